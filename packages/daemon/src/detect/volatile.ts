/** Words that change by themselves: numbers, dates, times, and the random marks that servers hand out. */

const dateWord = new RegExp(
  '^(' +
    'jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?|' +
    'mon(day)?|tue(s(day)?)?|wed(nesday)?|thu(rs(day)?)?|fri(day)?|sat(urday)?|sun(day)?|' +
    'seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|ago|just|now|yesterday|today|an?|few|am|pm|' +
    'utc|gmt|ces?t|[ecmp][sd]t|th|st|nd|rd|t|z|vor|il|y|há|hace|年|月|日|時|分|秒|前' +
    ')$',
  'i',
);
const sign = /^[^\p{L}\p{N}]+$/u;
const figure = /\p{N}/u;
/** Long and mixing upper and lower case within a word, as base64 does and words do not. */
const mark = /^(?=.*\p{Ll}\p{Lu})(?=.*\p{Lu}\p{Ll}).{10,}$/u;

/** Whether every word is of that kind and at least one says something. */
export function isVolatile(words: readonly string[]): boolean {
  let told = false;
  for (const word of words) {
    if (sign.test(word)) continue;
    if (!figure.test(word) && !dateWord.test(word) && !mark.test(word)) return false;
    told = true;
  }
  return told;
}

/** Words that stand beside counters and clocks of the machinery of a page, not beside prices or versions. */
export const machineryWords =
  /\b(views?|viewed|visits?|visitors?|online|viewing|watching|hits|page ?loads?|generated in|rendered in|served by|request[- ]?id|ray[- ]?id|trace[- ]?id|csrf|xsrf|nonce|token|session(id)?|sid|timestamp|server time|current time|it is now|seconds? ago|minutes? ago|hours? ago|cache ?bust\w*|authenticity)\b/i;
