import { useState } from 'preact/hooks';
import { Trouble } from '../parts/trouble.tsx';
import { type Problem, ask, useAsk } from '../server.ts';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Hours in which nobody is asked for anything. */
export function QuietHours() {
  const settings = useAsk(() => ask('GET /api/settings'), []);
  /** What was typed; what is set, until something is. */
  const [typed, setTyped] = useState<string>();
  const text = typed ?? settings.value?.quiet.join('\n') ?? '';
  const [said, setSaid] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const save = async (): Promise<void> => {
    const quiet = text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    try {
      await ask('PATCH /api/settings', { body: { quiet } });
      setProblem(undefined);
      setSaid(quiet.length === 0 ? 'There are no quiet hours.' : 'Saved.');
      settings.reload();
    } catch (error) {
      setSaid('');
      setProblem(error as Problem);
    }
  };
  return (
    <section class="section">
      <h2>Quiet hours</h2>
      <form class="stack" onSubmit={(event) => (event.preventDefault(), void save())}>
        <label class="field">
          <span>No page is looked at then; one stretch a line, days and time zone may be left out</span>
          <textarea
            rows={Math.max(2, text.split('\n').length)}
            spellcheck={false}
            placeholder={`mon-fri 22:00-06:00 ${zone}\nsat-sun 00:00-24:00 ${zone}`}
            value={text}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <button type="submit">Set quiet hours</button>
          <span role="status">{said}</span>
        </div>
      </form>
      <Trouble problem={problem ?? settings.problem} />
    </section>
  );
}
