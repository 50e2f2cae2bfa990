/**
 * What a page must be to everybody, checked in the browser itself: names for what can be used, contrast for what can be read,
 * one heading above all, no traps for the keyboard. Returns sentences, none when all is well. Runs inside the page, so it can
 * use nothing from outside itself.
 */
export function accessibilityComplaints(): string[] {
  const complaints: string[] = [];
  const shown = (element: Element): boolean => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && style.display !== 'none';
  };
  const tell = (element: Element): string =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${(element.textContent ?? '').trim().slice(0, 40)}`;
  const nameOf = (element: Element): string => {
    const label = element.getAttribute('aria-label') ?? element.getAttribute('title');
    if (label) return label;
    const by = element.getAttribute('aria-labelledby');
    if (by) return document.getElementById(by)?.textContent ?? '';
    if (
      element instanceof HTMLInputElement ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement
    )
      return [...(element.labels ?? [])].map((one) => one.textContent ?? '').join(' ');
    return element.textContent ?? '';
  };
  for (const element of document.querySelectorAll(
    'a[href], button, input, select, textarea, [role="img"], [role="region"], nav, dialog[open]',
  ))
    if (shown(element) && !element.closest('[aria-hidden="true"]') && nameOf(element).trim() === '')
      complaints.push(`has no name: ${tell(element)}`);
  const headings = [...document.querySelectorAll('h1')].filter(shown);
  if (headings.length !== 1) complaints.push(`${headings.length} h1 instead of one`);
  if (!document.documentElement.lang) complaints.push('the document names no language');
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const id of new Set(ids))
    if (ids.filter((other) => other === id).length > 1) complaints.push(`the id ${id} is there twice`);
  for (const element of document.querySelectorAll('[tabindex]'))
    if (Number(element.getAttribute('tabindex')) > 0) complaints.push(`jumps the order of focus: ${tell(element)}`);

  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const rgba = (colour: string): [number, number, number, number] => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r!, g!, b!, a! / 255];
  };
  const known = new Map<string, [number, number, number, number]>();
  const read = (colour: string): [number, number, number, number] => {
    if (!known.has(colour)) known.set(colour, rgba(colour));
    return known.get(colour)!;
  };
  const over = (
    top: [number, number, number, number],
    below: [number, number, number, number],
  ): [number, number, number, number] => {
    const mix = (a: number, b: number): number => a * top[3] + b * (1 - top[3]);
    return [mix(top[0], below[0]), mix(top[1], below[1]), mix(top[2], below[2]), 1];
  };
  const ground = (element: Element | null): [number, number, number, number] => {
    if (!element)
      return read(getComputedStyle(document.documentElement).colorScheme.includes('dark') ? '#000' : '#fff');
    const own = read(getComputedStyle(element).backgroundColor);
    return own[3] >= 0.999 ? own : over(own, ground(element.parentElement));
  };
  const light = ([r, g, b]: [number, number, number, number]): number => {
    const part = (value: number): number =>
      value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? '').trim() !== '',
    );
    if (!own || !shown(element) || element.closest('svg, [aria-hidden="true"], :disabled, .hidden-text, .skip, option'))
      continue;
    const style = getComputedStyle(element);
    if (element.closest('.fresh')) continue;
    const back = ground(element);
    const [one, two] = [light(over(read(style.color), back)), light(back)];
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (contrast < least) complaints.push(`contrast ${contrast.toFixed(2)} below ${least}: ${tell(element)}`);
  }
  return [...new Set(complaints)].slice(0, 20);
}
