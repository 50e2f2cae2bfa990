import { useState } from 'preact/hooks';
import { Trouble } from '../parts/trouble.tsx';
import { Problem, ask } from '../server.ts';

/** Asked once beyond loopback; the browser then holds a session that scripts cannot read. */
export function Login({ onOpen }: { readonly onOpen: () => void }) {
  const [problem, setProblem] = useState<Problem>();
  const open = async (form: HTMLFormElement): Promise<void> => {
    const token = new FormData(form).get('token');
    try {
      await ask('POST /api/session', { body: { token: typeof token === 'string' ? token.trim() : '' } });
      onOpen();
    } catch (error) {
      const { code, message } = error as Problem;
      setProblem(new Problem(400, code, message));
    }
  };
  return (
    <main class="stack login">
      <h1 class="row">
        <img src="./mark.svg" alt="" width="22" height="22" />
        Revisit
      </h1>
      <p>
        This daemon is reached from beyond its machine, so it asks for a token. There,{' '}
        <code>revisit token add NAME --scope write</code> makes one.
      </p>
      <form class="row end" onSubmit={(event) => (event.preventDefault(), void open(event.currentTarget))}>
        <label class="field grow">
          <span>Token</span>
          <input name="token" type="password" autoComplete="current-password" required />
        </label>
        <button type="submit" class="main">
          Open
        </button>
      </form>
      <Trouble problem={problem} />
    </main>
  );
}
