import { useState } from 'preact/hooks';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { ago, bytes } from '../format.ts';
import { type Answer, Problem, ask, sendFile } from '../server.ts';

interface Props {
  readonly traces: Answer<'GET /api/lab'>['traces'];
  readonly now: number;
  readonly onChanged: () => void;
}

/** Recorded traces that policies can be tried on. */
export function LabTraces({ traces, now, onChanged }: Props) {
  const [problem, setProblem] = useState<Problem>();
  const [said, setSaid] = useState('');
  const attempt = async (work: () => Promise<string>): Promise<void> => {
    try {
      setSaid(await work());
      setProblem(undefined);
      onChanged();
    } catch (error) {
      setSaid('');
      setProblem(error as Problem);
    }
  };
  const upload = (file: File): Promise<void> =>
    attempt(async () => {
      const type = file.name.endsWith('.gz') ? 'application/gzip' : 'text/csv';
      const kept = (await sendFile(`/api/lab/traces/${encodeURIComponent(file.name)}`, file, type)) as {
        pages: number;
        changes: number;
      };
      return `${kept.changes} changes of ${kept.pages} pages.`;
    });
  const remove = (name: string): Promise<void> =>
    attempt(async () => {
      await ask('DELETE /api/lab/traces/{name}', { path: { name } });
      return '';
    });
  return (
    <section class="section">
      <h2>Traces</h2>
      <p class="soft small">
        Files of rows <code>source,unix_seconds</code>, one for each change, packed with gzip or not; they lie in the
        folder <code>traces</code> of the data folder.
      </p>
      {traces.length > 0 && (
        <div class="scrolls">
          <table>
            <tbody>
              {traces.map((trace) => (
                <tr key={trace.name}>
                  <td>{trace.name}</td>
                  <td class="number">{bytes(trace.bytes)}</td>
                  <td class="soft still">{ago(trace.addedAt, now)}</td>
                  <td class="number">
                    <ConfirmButton label="Remove" sure="Really remove?" onConfirm={() => void remove(trace.name)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="row">
        <label class="field">
          <span>Add a trace</span>
          <input
            type="file"
            accept=".csv,.gz"
            onChange={(event) => {
              const input = event.currentTarget;
              const file = input.files?.[0];
              if (file) void upload(file).then(() => (input.value = ''));
            }}
          />
        </label>
        <span role="status" class="small">
          {said}
        </span>
      </div>
      <Trouble problem={problem} />
    </section>
  );
}
