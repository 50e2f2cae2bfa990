import { useState } from 'preact/hooks';
import { type Problem, ask } from '../server.ts';
import { Trouble } from './trouble.tsx';

/** Starts the demonstration and goes there. */
export function DemoButton() {
  const [state, setState] = useState<'idle' | 'starting'>('idle');
  const [problem, setProblem] = useState<Problem>();
  const start = async (): Promise<void> => {
    setState('starting');
    try {
      const { url } = await ask('POST /api/demo');
      location.href = url;
    } catch (error) {
      setProblem(error as Problem);
      setState('idle');
    }
  };
  return (
    <>
      <button type="button" disabled={state === 'starting'} onClick={() => void start()}>
        {state === 'starting' ? 'Starting…' : 'Watch the demo web'}
      </button>
      <Trouble problem={problem} />
    </>
  );
}
