import { type Command, Option } from 'commander';
import { problemOutcome, withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, note, print, printJson, wrong } from '../outcome.ts';
import { table } from '../table.ts';

interface TokenBody {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly createdAt: string;
}

interface Options {
  readonly data: string;
  readonly json?: boolean;
  readonly scope?: string;
}

async function add(name: string, options: Options): Promise<CommandOutcome> {
  return withClient({ data: options.data, creates: true }, async (client) => {
    const answer = await client.ask('POST', '/api/tokens', { name, scope: options.scope });
    if (answer.status >= 400) return problemOutcome(answer);
    const token = answer.body as TokenBody & { secret: string };
    if (options.json) printJson(token);
    else {
      print(token.secret);
      note(`This is the only time it is shown. Scope ${token.scope}; "revisit token revoke ${token.id}" ends it.`);
    }
    return done;
  });
}

async function list(options: Options): Promise<CommandOutcome> {
  return withClient({ data: options.data }, async (client) => {
    const answer = await client.ask('GET', '/api/tokens');
    if (answer.status >= 400) return problemOutcome(answer);
    const { tokens } = answer.body as { tokens: TokenBody[] };
    if (options.json) printJson(tokens);
    else if (tokens.length === 0) print('There is no token; "revisit token add NAME" makes one.');
    else
      print(
        table(
          ['id', 'scope', 'made', 'name'],
          tokens.map((token) => [token.id, token.scope, token.createdAt.slice(0, 10), token.name]),
        ),
      );
    return done;
  });
}

async function revoke(words: readonly string[], options: Options): Promise<CommandOutcome> {
  return withClient({ data: options.data }, async (client) => {
    const known = await client.ask('GET', '/api/tokens');
    if (known.status >= 400) return problemOutcome(known);
    const { tokens } = known.body as { tokens: TokenBody[] };
    const found = words.map((word) => tokens.filter((token) => token.id === word || token.name === word));
    for (const [i, fitting] of found.entries()) {
      if (fitting.length === 0)
        return wrong(`token ${words[i]} is not known; "revisit token list" lists ids and names`);
      if (fitting.length > 1) return wrong(`token ${words[i]} is not unique; name it by its id`);
    }
    for (const [token] of found) {
      const answer = await client.ask('DELETE', `/api/tokens/${token!.id}`);
      if (answer.status >= 400) return problemOutcome(answer);
      print(`revoked  ${token!.id}  ${token!.name}`);
    }
    return done;
  });
}

export function registerToken(program: Command, run: Runner): void {
  const token = program.command('token').description('who may use the API from beyond this machine');
  const adding = token
    .command('add <name>')
    .description('make a token and print it, once')
    .addOption(new Option('--scope <scope>', 'what it allows').choices(['read', 'write', 'admin']).default('read'));
  example(jsonOption(dataOption(adding)), 'revisit token add grafana --scope read');
  adding.action(run(add));
  const listing = token.command('list').description('the tokens, without their secrets');
  example(jsonOption(dataOption(listing)), 'revisit token list');
  listing.action(run(list));
  const revoking = token.command('revoke <token...>').description('end tokens, by id or name, and their sessions');
  example(dataOption(revoking), 'revisit token revoke grafana');
  revoking.action(run(revoke));
}
