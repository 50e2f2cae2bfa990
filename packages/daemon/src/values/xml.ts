/** XML as it was meant, where the mistake is one that many make and nobody can take for anything else. */

/** What stands before the document, and an `&` that begins no entity; in a CDATA section it is itself already. */
const mistakes = /^[\ufeff\s]+|<!\[CDATA\[[^]*?(?:\]\]>|$)|&(?!#\d+;|#x[\da-f]+;|[a-z_][\w.-]*;)/gi;

export function mended(text: string): string {
  return text.replaceAll(mistakes, (found) => (found === '&' ? '&amp;' : found.startsWith('<') ? found : ''));
}

/** How a reader says that something stands before the declaration, which then says nothing that is needed. */
export const isLateDeclaration = (message: string): boolean =>
  message.endsWith('an XML declaration must be at the start of the document.');
