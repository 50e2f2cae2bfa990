import { Kind } from '../parts/kind.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { bytes, dateTime, milliseconds, span } from '../format.ts';
import { ask, useAsk } from '../server.ts';

/** How it was observed: every look, found or not. */
export function PageLooks({ id, round }: { readonly id: string; readonly round: number }) {
  const looks = useAsk(() => ask('GET /api/pages/{id}/looks', { path: { id }, query: { limit: 500 } }), [id, round]);
  if (!looks.value) return <Trouble problem={looks.problem} />;
  const all = looks.value.looks;
  if (all.length === 0) return <p class="soft">It was not looked at yet.</p>;
  return (
    <div class="scrolls">
      <table>
        <TableHead words={['When', 'Found']} numbers={['After', 'Took', 'Received']} />
        <tbody>
          {all.map((look, i) => (
            <tr key={look.at}>
              <td>
                <time dateTime={look.at}>{dateTime(look.at)}</time>
              </td>
              <td>
                <Kind kind={look.kind} />
              </td>
              <td class="number soft">{all[i + 1] ? span(Date.parse(look.at) - Date.parse(all[i + 1]!.at)) : ''}</td>
              <td class="number">{milliseconds(look.durationMs)}</td>
              <td class="number">{bytes(look.bytesReceived)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
