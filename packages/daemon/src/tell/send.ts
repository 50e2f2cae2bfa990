/** Messages over the wire: HTTP for most receivers, letters by `mail.ts`, a process for commands. */
import { spawn } from 'node:child_process';
import { Agent, type buildConnector, request as httpRequest } from 'undici';
import type { Fault } from '../values/fault.ts';
import type { Deliver, Subscription } from '../values/subscription.ts';
import { requestFor, type Request } from './channels.ts';
import { sendMsMax, type Send, type Sent } from './courier.ts';
import { Mail } from './mail.ts';
import type { Message } from './message.ts';

export interface SendOptions {
  /** Where letters are handed in, such as smtps://user:password@mail.example.org. */
  readonly smtp?: string | undefined;
  readonly mailFrom?: string | undefined;
  /** Whether subscriptions may start programs on this machine. */
  readonly allowCommands: boolean;
  readonly userAgent: string;
  /** Connects to receivers, and refuses addresses that are none for them. */
  readonly connect: buildConnector.connector;
}

const refused = (code: string, sentence: string, more: { forever?: boolean; retryAfterMs?: number } = {}): Sent => ({
  kind: 'refused',
  fault: { code, sentence },
  ...more,
});

export function createSend(options: SendOptions): Send {
  const { connect } = options;
  const agent = new Agent({ allowH2: true, headersTimeout: sendMsMax, bodyTimeout: sendMsMax, connect });
  let mail: Mail | undefined;
  return async (subscription, message, nowMs) => {
    const { deliver } = subscription;
    if (deliver.kind === 'email') {
      if (options.smtp === undefined) return refused('mail-not-set', 'Letters need "smtp" in the configuration.');
      mail ??= new Mail(options.smtp, options.mailFrom);
      return mail.send(deliver, message);
    }
    if (deliver.kind === 'command') {
      if (!options.allowCommands)
        return refused('command-not-allowed', 'Commands need "allowCommands: true" in the configuration.');
      return run(deliver, message);
    }
    return call(requestFor(deliver, message, nowMs)!, agent, options.userAgent, subscription);
  };
}

async function call(wanted: Request, agent: Agent, userAgent: string, subscription: Subscription): Promise<Sent> {
  try {
    const { statusCode, headers, body } = await httpRequest(wanted.url, {
      method: wanted.method,
      headers: { 'user-agent': userAgent, ...wanted.headers },
      body: wanted.body,
      dispatcher: agent,
    });
    await body.dump({ limit: 65_536 });
    return judged(statusCode, headers['retry-after'], subscription);
  } catch (error) {
    return { kind: 'refused', fault: unreached(error, wanted.url) };
  }
}

/** Anything but success is tried again, because people mend receivers; only 410 says in so many words not to. */
function judged(status: number, retryAfter: string | string[] | undefined, subscription: Subscription): Sent {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  const who = subscription.name ?? subscription.deliver.kind;
  if (status === 410)
    return refused('receiver-gone', `The receiver ${who} answered 410: it wants no more.`, { forever: true });
  const seconds = typeof retryAfter === 'string' && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return refused(
    'receiver-refused',
    `The receiver ${who} answered ${status}.`,
    seconds === undefined ? {} : { retryAfterMs: Math.min(seconds, 86_400) * 1000 },
  );
}

function unreached(error: unknown, url: string): Fault {
  const message = error instanceof Error ? error.message : String(error);
  // The path of many of these addresses is a credential; only the host is said.
  return {
    code: 'receiver-unreached',
    sentence: `${new URL(url).host} cannot be reached (${message.split('\n')[0]}).`,
  };
}

/** The environment cannot hold a zero byte; a page's title can. */
const bare = (text: string): string => text.replaceAll('\0', '');

function run(deliver: Deliver & { kind: 'command' }, message: Message): Promise<Sent> {
  return new Promise((resolve) => {
    const [program, ...words] = deliver.command;
    const child = spawn(program, words, {
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: sendMsMax - 1_000,
      killSignal: 'SIGKILL',
      env: {
        ...process.env,
        REVISIT_DELIVERY: message.id,
        REVISIT_TITLE: bare(message.title),
        REVISIT_URL: message.url,
      },
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-300)));
    // A program that does not read its input is no failure.
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(message));
    child.on('error', (error) =>
      resolve(refused('command-failed', `${program} cannot be started (${error.message}).`)),
    );
    child.on('close', (code, signal) => {
      if (code === 0) return resolve({ kind: 'taken' });
      const why = signal ? `was ended by ${signal}` : `ended with ${code}`;
      return resolve(
        refused('command-failed', `${program} ${why}${said ? `: ${said.trim().split('\n').at(-1)}` : ''}.`),
      );
    });
  });
}
