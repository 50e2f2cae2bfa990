import { type Command, Option } from 'commander';
import { withClient } from '../client.ts';
import type { Runner } from '../program.ts';
import { dataOption, example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, note, print, printJson, wrong } from '../outcome.ts';
import { table } from '../table.ts';

interface Options {
  readonly data: string;
  readonly json?: boolean;
  readonly scope?: 'read' | 'write' | 'admin';
}

async function add(name: string, options: Options): Promise<CommandOutcome> {
  return withClient({ data: options.data, creates: true }, async (client) => {
    const token = await client.call('POST /api/tokens', { body: { name, scope: options.scope ?? 'read' } });
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
    const { tokens } = await client.call('GET /api/tokens');
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
    const { tokens } = await client.call('GET /api/tokens');
    const found = words.map((word) => tokens.filter((token) => token.id === word || token.name === word));
    for (const [i, fitting] of found.entries()) {
      if (fitting.length === 0)
        return wrong(`token ${words[i]} is not known; "revisit token list" lists ids and names`);
      if (fitting.length > 1) return wrong(`token ${words[i]} is not unique; name it by its id`);
    }
    for (const [token] of found) {
      await client.call('DELETE /api/tokens/{id}', { path: { id: token!.id } });
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
