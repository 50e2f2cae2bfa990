/** Where we are, in the address after the hash: it works behind any proxy, under any path, and needs nothing of the server. */
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export function readPlace(hash: string): Place {
  const [path = '', words = ''] = hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').filter(Boolean).map(decode), query: new URLSearchParams(words) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(parts: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const words = new URLSearchParams(
    Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ''),
  ).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${words === '' ? '' : `?${words}`}`;
}

export const go = (hash: string): void => void (location.hash = hash);
/** Without a step for the back button: for filters as they are typed. */
export function replace(hash: string): void {
  history.replaceState(null, '', hash);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const moved = (): void => setHash(location.hash);
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return readPlace(hash);
}
