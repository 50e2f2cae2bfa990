import type { Command } from 'commander';
import type { SubscriptionInput } from '../../api/client.ts';
import { withClient } from '../client.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, note, print, printJson, wrong } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { table } from '../table.ts';
import { changeTable } from './changes.ts';

interface SubscribeOptions {
  readonly data: string;
  readonly json?: boolean;
  readonly match?: string;
  readonly name?: string;
  readonly digest?: string;
  readonly quiet?: string;
  readonly burst?: string;
  readonly zone?: string;
  readonly secret?: string;
  readonly try?: boolean;
}

interface SubscriptionBody {
  readonly id: string;
  readonly name?: string;
  readonly match: string;
  readonly deliver: { readonly kind: string; readonly url?: string; readonly to?: string };
  readonly paused: boolean;
}

function deliverOf(given: string, secret: string | undefined): unknown {
  if (given.trimStart().startsWith('{')) {
    try {
      return JSON.parse(given) as unknown;
    } catch {
      return given;
    }
  }
  return secret === undefined ? given : { kind: 'webhook', url: given, secret };
}

async function subscribe(given: string, options: SubscribeOptions): Promise<CommandOutcome> {
  const burst = options.burst === undefined ? undefined : Number(options.burst);
  if (burst !== undefined && !Number.isFinite(burst))
    return wrong(`--burst ${options.burst}: a number of seconds is expected`);
  const fields = {
    deliver: deliverOf(given, options.secret),
    match: options.match,
    name: options.name,
    digest: options.digest?.includes(',') ? options.digest.split(',') : options.digest,
    quiet: options.quiet,
    burstSeconds: burst,
    zone: options.zone,
  };
  return withClient({ data: options.data, creates: true }, async (client) => {
    if (options.try) {
      const tried = await client.call('POST /api/subscriptions/try', { body: { match: options.match ?? '' } });
      const { sentence, examples } = tried;
      if (options.json) printJson(tried);
      else print([sentence, ...(examples.length > 0 ? [changeTable(examples)] : [])].join('\n'));
      return done;
    }
    const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const made = await client.call('POST /api/subscriptions', { body: body as unknown as SubscriptionInput });
    if (options.json) printJson(made);
    else print(made.id);
    if (client.url === undefined) note('messages go out while "revisit serve" runs, and with every "revisit check"');
    return done;
  });
}

async function subscriptions(options: { readonly data: string; readonly json?: boolean }): Promise<CommandOutcome> {
  return withClient({ data: options.data }, async (client) => {
    const answer = await client.call('GET /api/subscriptions');
    const list = answer.subscriptions as readonly SubscriptionBody[];
    if (options.json) printJson(answer);
    else if (list.length === 0) print('Nobody is told of changes yet; "revisit subscribe" adds somebody.');
    else {
      const rows = list.map(({ id, name, match, deliver, paused }) => [
        id,
        name ?? '',
        deliver.kind,
        deliver.to ?? (deliver.url === undefined ? '' : new URL(deliver.url).host),
        paused ? 'paused' : '',
        match || 'everything',
      ]);
      print(table(['id', 'name', 'how', 'where', '', 'what'], rows));
    }
    return done;
  });
}

async function unsubscribe(id: string, options: { readonly data: string }): Promise<CommandOutcome> {
  return withClient({ data: options.data }, async (client) => {
    await client.call('DELETE /api/subscriptions/{id}', { path: { id } });
    return done;
  });
}

export function registerSubscribe(program: Command, run: Runner): void {
  const add = program
    .command('subscribe <receiver>')
    .description('tell somebody of changes: a webhook URL, mailto:…, or {"kind":"ntfy",…}')
    .option('--match <expression>', 'which changes, such as: site = example.org and size > 20')
    .option('--try', 'say what the expression would have matched of the last changes, and save nothing')
    .option('--name <name>', 'what to call it')
    .option('--secret <text>', 'sign webhooks with this')
    .option('--digest <when>', 'gather: hourly, daily, or times such as 08:00,18:00')
    .option('--quiet <hours>', 'hours without messages, such as 22:00-07:00')
    .option('--burst <seconds>', 'one message for all changes within so many seconds')
    .option('--zone <zone>', 'the time zone of those times, such as Europe/Vienna');
  example(jsonOption(dataOption(add)), "revisit subscribe https://hooks.example.org/x --match 'tag = prices'");
  add.action(run(subscribe));
  const list = program.command('subscriptions').description('who is told of what');
  example(jsonOption(dataOption(list)), 'revisit subscriptions');
  list.action(run(subscriptions));
  const remove = program.command('unsubscribe <id>').description('tell them no more');
  example(dataOption(remove), 'revisit unsubscribe 3f2a9c0d11e4b7a6');
  remove.action(run(unsubscribe));
}
