import { useState } from 'preact/hooks';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { dateTime } from '../format.ts';
import { type Problem, ask, useAsk } from '../server.ts';

const scopes = ['read', 'write', 'admin'] as const;

/** Who may use the API from beyond this machine. */
export function Tokens() {
  const tokens = useAsk(() => ask('GET /api/tokens'), []);
  const [name, setName] = useState('');
  const [scope, setScope] = useState<(typeof scopes)[number]>('read');
  const [secret, setSecret] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      setProblem(undefined);
      tokens.reload();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  const add = (): Promise<void> =>
    attempt(async () => {
      const made = await ask('POST /api/tokens', { body: { name, scope } });
      setSecret(made.secret);
      setName('');
    });
  return (
    <section class="section">
      <h2>Tokens</h2>
      <p class="soft small">
        This machine needs none. From elsewhere, programs send one as “Authorization: Bearer …”, and people open this
        page with one.
      </p>
      <Trouble problem={problem ?? tokens.problem} />
      {secret !== '' && (
        <p class="notice good" role="status">
          The new token, shown this once: <code>{secret}</code>
        </p>
      )}
      {tokens.value && tokens.value.tokens.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">May</th>
              <th scope="col">Made</th>
              <th scope="col">
                <span class="hidden-text">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {tokens.value.tokens.map((token) => (
              <tr key={token.id}>
                <td>
                  <Foreign text={token.name} />
                </td>
                <td>{token.scope}</td>
                <td>{dateTime(token.createdAt)}</td>
                <td class="number">
                  <ConfirmButton
                    label="Revoke"
                    sure="Revoke it now?"
                    onConfirm={() => void attempt(() => ask('DELETE /api/tokens/{id}', { path: { id: token.id } }))}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <form class="row end" onSubmit={(event) => (event.preventDefault(), void add())}>
        <label class="field">
          <span>Name</span>
          <input required maxLength={100} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>May</span>
          <select
            value={scope}
            onChange={(event) => setScope(scopes.find((one) => one === event.currentTarget.value)!)}
          >
            {scopes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="submit">Make a token</button>
      </form>
    </section>
  );
}
