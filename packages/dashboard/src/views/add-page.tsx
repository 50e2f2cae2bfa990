import { useEffect, useState } from 'preact/hooks';
import { Outline } from '../parts/outline.tsx';
import { Picture } from '../parts/picture.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { bytes, harmless } from '../format.ts';
import { address, go } from '../route.ts';
import { type Answer, type Problem, ask } from '../server.ts';

type Preview = Answer<'POST /api/preview'>;

const urlsIn = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');

/** Naming pages: one with a preview and a choice of its part, or many at once. */
export function AddPage({ url }: { readonly url: string }) {
  const [urls, setUrls] = useState(url);
  const [select, setSelect] = useState('');
  const [tags, setTags] = useState('');
  const [weight, setWeight] = useState('1');
  const [spacing, setSpacing] = useState('');
  const [preview, setPreview] = useState<Preview>();
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const list = urlsIn(urls);

  const settings = {
    ...(select.trim() === '' ? {} : { select: select.trim() }),
    ...(tags.trim() === ''
      ? {}
      : {
          tags: tags
            .split(',')
            .map((tag) => tag.trim())
            .filter(Boolean),
        }),
    ...(weight.trim() === '' || weight === '1' ? {} : { weight: Number(weight) }),
    ...(spacing.trim() === '' ? {} : { spacing: spacing.trim() }),
  };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
      setProblem(undefined);
    } catch (error) {
      setProblem(error as Problem);
    } finally {
      setBusy(false);
    }
  };
  const look = (chosen = select): Promise<void> =>
    attempt(async () => {
      const body = { url: list[0] ?? '', ...(chosen.trim() === '' ? {} : { select: chosen.trim() }) };
      setPreview(await ask('POST /api/preview', { body }));
    });
  const choose = (selector: string): void => {
    setSelect(selector);
    void look(selector);
  };
  const watch = (): Promise<void> =>
    attempt(async () => {
      const answer = await ask('POST /api/pages', { body: list.map((one) => ({ url: one, ...settings })) });
      const pages = 'pages' in answer ? answer.pages : [answer];
      go(pages.length === 1 ? address(['pages', pages[0]!.id]) : address(['pages'], { order: 'added' }));
    });
  useEffect(() => {
    if (url !== '') void look();
  }, []);
  return (
    <>
      <div class="title-row">
        <h1>Add pages</h1>
      </div>
      <form class="stack" onSubmit={(event) => (event.preventDefault(), void watch())}>
        <label class="field">
          <span>Addresses of pages, feeds or JSON, one a line</span>
          <textarea
            rows={Math.min(8, Math.max(2, list.length + 1))}
            required
            spellcheck={false}
            placeholder="https://example.org/news"
            value={urls}
            onInput={(event) => setUrls(event.currentTarget.value)}
          />
        </label>
        <div class="row end">
          <label class="field grow">
            <span>The part that counts (CSS, //xpath, $.jsonpath, jq:…, regexp:…, main, links, text)</span>
            <input
              class="mono"
              spellcheck={false}
              placeholder="the whole text"
              value={select}
              onInput={(event) => setSelect(event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span>Tags, with commas</span>
            <input value={tags} onInput={(event) => setTags(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Weight</span>
            <input
              inputMode="decimal"
              size={5}
              value={weight}
              onInput={(event) => setWeight(event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span>At most every</span>
            <input
              size={8}
              placeholder="such as 1h"
              value={spacing}
              onInput={(event) => setSpacing(event.currentTarget.value)}
            />
          </label>
        </div>
        <div class="row">
          <button type="submit" class="main" disabled={busy || list.length === 0}>
            {list.length > 1 ? `Watch ${list.length} pages` : 'Watch'}
          </button>
          <button type="button" disabled={busy || list.length === 0} onClick={() => void look()}>
            {busy ? 'Looking…' : list.length > 1 ? 'Preview the first' : 'Preview'}
          </button>
        </div>
      </form>
      <div class="stack" style={{ marginTop: '1rem' }}>
        <Trouble problem={problem} />
        {preview && <Previewed preview={preview} select={select} onChoose={choose} />}
      </div>
    </>
  );
}

interface PreviewedProps {
  readonly preview: Preview;
  readonly select: string;
  readonly onChoose: (selector: string) => void;
}

/** The page to point at, its parts as a list for those who do not point, and what would be kept. */
function Previewed({ preview, select, onChoose }: PreviewedProps) {
  return (
    <div class="columns">
      {preview.outline.length > 0 && (
        <section class="section">
          <h2>Choose a part</h2>
          {preview.picture !== null && (
            <Picture key={preview.picture} name={preview.picture} chosen={select} onChoose={onChoose} />
          )}
          <details open={preview.picture === null}>
            <summary>Parts as a list</summary>
            <Outline nodes={preview.outline} chosen={select} onChoose={onChoose} />
          </details>
        </section>
      )}
      <section class="section">
        <h2>What would be kept</h2>
        <p class="soft small">
          {harmless(preview.title ?? '')} {preview.mediaType} · {bytes(preview.bytes)}
          {preview.finalUrl !== preview.url && <> · came from {harmless(preview.finalUrl)}</>}
        </p>
        {preview.fault ? (
          <p class="notice">{harmless(preview.fault.sentence)}</p>
        ) : (
          <pre class="preview-text" tabIndex={0} aria-label="What would be kept" dir="auto">
            {harmless(preview.text ?? '')}
          </pre>
        )}
      </section>
    </div>
  );
}
