/** Text as words: runs of letters and digits, single signs, white space; scripts written without spaces by character. */

const parts =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|[\p{L}\p{N}\p{M}_]+(?:[.,]\p{N}+)*|\s+|[^]/gu;

/** Joined again, the words are the text. */
export function words(text: string): string[] {
  return text.match(parts) ?? [];
}
