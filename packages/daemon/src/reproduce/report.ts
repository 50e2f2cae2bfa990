/** The report as one HTML file that needs nothing from outside. */
import { type DataTable, type Findings, type Item, type Verdict, papers } from './item.ts';
import { escape, plotSvg } from './svg.ts';

export interface Reproduced {
  readonly item: Pick<Item, 'id' | 'paper' | 'title'>;
  readonly verdict: Verdict;
  readonly findings: Findings;
  readonly seconds: number;
}

const style = `body{font:15px/1.5 sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse;margin:.6em 0}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left;font-size:13px;vertical-align:top}.v{font-size:12px;padding:.1em .6em;border-radius:1em;color:#fff;white-space:nowrap}.holds{background:#2e8b57}.remark{background:#b7791f}.not{background:#b00020}section{border-top:1px solid #ddd;margin-top:1.5em}.no td{background:#fdecea}.wide{overflow-x:auto}svg{max-width:100%;height:auto}.plots{display:flex;flex-wrap:wrap;gap:10px}details summary{cursor:pointer}`;

const className: Record<Verdict, string> = { holds: 'holds', 'holds with a remark': 'remark', 'does not hold': 'not' };
const badge = (verdict: Verdict): string => `<span class="v ${className[verdict]}">${verdict}</span>`;

function tableHtml({ title, head, rows }: DataTable): string {
  const row = (cells: readonly (string | number)[], tag: string): string =>
    `<tr>${cells.map((cell) => `<${tag}>${escape(String(cell))}</${tag}>`).join('')}</tr>`;
  return `<details${rows.length <= 12 ? ' open' : ''}><summary>${escape(title)}</summary><table>${row(head, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table></details>`;
}

function sectionHtml({ item, verdict, findings }: Reproduced): string {
  const checks = findings.checks.map(
    (check) =>
      `<tr${check.agrees ? '' : ' class="no"'}><td>${escape(check.paper)}</td><td>${escape(check.ours)}</td><td>${check.agrees ? 'yes' : 'no'}</td></tr>`,
  );
  return `<section id="${item.id}"><h3>${escape(item.title)} ${badge(verdict)}</h3><div class="wide"><table><tr><th>the paper</th><th>here</th><th>agrees</th></tr>${checks.join('')}</table></div>${findings.remark === undefined ? '' : `<p><em>${escape(findings.remark)}</em></p>`}${(findings.tables ?? []).map(tableHtml).join('')}<div class="plots">${(findings.plots ?? []).map(plotSvg).join('')}</div></section>`;
}

export function reportHtml(
  done: readonly Reproduced[],
  how: { readonly version: string; readonly traces: boolean },
): string {
  const groups = Object.entries(papers).flatMap(([paper, title]) => {
    const own = done.filter(({ item }) => item.paper === paper);
    return own.length === 0 ? [] : [`<h2>${escape(title)}</h2>${own.map(sectionHtml).join('')}`];
  });
  const rows = done.map(
    ({ item, verdict }) =>
      `<tr><td><a href="#${item.id}">${escape(item.title)}</a></td><td>${escape(papers[item.paper].split(',')[0]!)}</td><td>${badge(verdict)}</td></tr>`,
  );
  const counts = (['holds', 'holds with a remark', 'does not hold'] as const).map(
    (verdict) => `${badge(verdict)} ${done.filter((one) => one.verdict === verdict).length}`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The five papers, recomputed</title><style>${style}</style></head><body><h1>The five papers, recomputed</h1><p>Every table and figure of the five papers that Revisit is built on, computed again with its own code (version ${escape(how.version)}), beside what the papers report. ${how.traces ? 'Recorded traces were given and are shown beside what is generated.' : 'Where the papers’ data are not public, they are generated from the published parameters.'} The same command gives the same numbers.</p><p>${counts.join(' &nbsp; ')}</p><p>A remark says what a reader of the paper must know: a misprint, data that are not public, a claim that needs a condition. An item holds when every line of its table agrees.</p><div class="wide"><table><tr><th>item</th><th>paper</th><th>verdict</th></tr>${rows.join('')}</table></div>${groups.join('')}</body></html>\n`;
}
