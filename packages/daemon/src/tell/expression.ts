/**
 * The language of subscriptions: which changes somebody wants to hear of, in one readable line.
 *
 *   site = example.com and (tag = prices or added ~ "in stock") and not kind = trouble and size > 20
 *
 *   expression = and { "or" and }        and = not { "and" not }        not = "not" not | "(" expression ")" | condition
 *   condition  = field operator value | field "in" "(" value { "," value } ")" | value        (a value alone: text ~ value)
 *
 * Values are words, "quoted texts", numbers or /regular expressions/; a path that starts with a slash needs quotes. Comparing texts ignores case; `~` means contains, or
 * for `page`, `url` and `site` a pattern with *. Errors say where they are.
 */
import { changeKinds } from '../values/change.ts';

export const textFields = [
  'page',
  'url',
  'site',
  'tag',
  'title',
  'kind',
  'text',
  'added',
  'removed',
  'summary',
] as const;
export const numberFields = ['size', 'count'] as const;
export type TextField = (typeof textFields)[number];
export type NumberField = (typeof numberFields)[number];

export type TextTest =
  | { readonly kind: 'equals'; readonly value: string }
  | { readonly kind: 'contains'; readonly value: string }
  | { readonly kind: 'matches'; readonly pattern: string; readonly flags: string };

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

export type Expression =
  | { readonly kind: 'all' }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }
  | { readonly kind: 'text'; readonly field: TextField; readonly test: TextTest }
  | { readonly kind: 'number'; readonly field: NumberField; readonly comparison: Comparison; readonly value: number };

export type ParsedExpression =
  | { readonly kind: 'parsed'; readonly expression: Expression }
  /** `at` counts characters from 0. */
  | { readonly kind: 'wrong'; readonly at: number; readonly sentence: string };

type Token =
  | { readonly kind: 'word' | 'quoted'; readonly text: string; readonly at: number }
  | { readonly kind: 'pattern'; readonly text: string; readonly flags: string; readonly at: number }
  | { readonly kind: 'sign'; readonly text: string; readonly at: number }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number };

class Wrong extends Error {
  readonly at: number;
  constructor(at: number, sentence: string) {
    super(sentence);
    this.at = at;
  }
}

/** No line that a person can read is longer, and no nesting deeper. */
const charactersMax = 2_000;
const depthMax = 50;

const tokenForm =
  /\s+|(?<quoted>"(?:[^"\\]|\\.)*"?)|\/(?<pattern>(?:[^/\\\n]|\\.)+)\/(?<flags>[imsu]*)|(?<sign>!=|!~|<=|>=|[()=~<>,])|(?<word>[^\s()=~<>,"!]+|!)/uy;

function tokens(text: string): Token[] {
  const out: Token[] = [];
  tokenForm.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    tokenForm.lastIndex = at;
    const found = tokenForm.exec(text);
    if (!found) throw new Wrong(at, `"${text[at]}" is not expected here`);
    const { quoted, pattern, flags, sign, word } = found.groups!;
    if (quoted !== undefined) {
      if (quoted.length < 2 || !quoted.endsWith('"'))
        throw new Wrong(at, 'the quotation that starts here does not end');
      out.push({ kind: 'quoted', text: quoted.slice(1, -1).replace(/\\(.)/g, '$1'), at });
    } else if (pattern !== undefined) out.push({ kind: 'pattern', text: pattern, flags: flags ?? '', at });
    else if (sign !== undefined) out.push({ kind: 'sign', text: sign, at });
    else if (word !== undefined) out.push({ kind: 'word', text: word, at });
    at += found[0].length;
  }
  out.push({ kind: 'end', text: '', at: text.length });
  return out;
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(list: readonly Token[]) {
    this.#tokens = list;
  }

  #peek(): Token {
    return this.#tokens[this.#next];
  }

  #take(): Token {
    return this.#tokens[this.#next++];
  }

  #isWord(text: string): boolean {
    const token = this.#peek();
    return token.kind === 'word' && token.text.toLowerCase() === text;
  }

  #isSign(text: string): boolean {
    const token = this.#peek();
    return token.kind === 'sign' && token.text === text;
  }

  whole(): Expression {
    if (this.#peek().kind === 'end') return { kind: 'all' };
    const expression = this.#either();
    const rest = this.#peek();
    if (rest.kind !== 'end') throw new Wrong(rest.at, `"and" or "or" is expected before ${shown(rest)}`);
    return expression;
  }

  #either(): Expression {
    if (++this.#depth > depthMax) throw new Wrong(this.#peek().at, 'it is nested too deeply');
    const parts = [this.#both()];
    while (this.#isWord('or')) {
      this.#take();
      parts.push(this.#both());
    }
    this.#depth--;
    return parts.length === 1 ? parts[0] : { kind: 'or', parts };
  }

  #both(): Expression {
    const parts = [this.#not()];
    while (this.#isWord('and')) {
      this.#take();
      parts.push(this.#not());
    }
    return parts.length === 1 ? parts[0] : { kind: 'and', parts };
  }

  #not(): Expression {
    let negations = 0;
    while (this.#isWord('not')) {
      this.#take();
      negations++;
    }
    const part = this.#isSign('(') ? this.#bracketed() : this.#condition();
    return negations % 2 === 1 ? { kind: 'not', part } : part;
  }

  #bracketed(): Expression {
    const open = this.#take();
    const inner = this.#either();
    if (!this.#isSign(')')) throw new Wrong(this.#peek().at, `")" is expected for the "(" at ${open.at + 1}`);
    this.#take();
    return inner;
  }

  #condition(): Expression {
    const first = this.#take();
    if (first.kind === 'end')
      throw new Wrong(first.at, 'a condition such as site = example.com is expected at the end');
    const then = this.#peek();
    const operator = then.kind === 'sign' && !['(', ')', ','].includes(then.text);
    if (first.kind === 'word' && (operator || this.#isWord('in'))) return this.#about(first);
    if (first.kind === 'sign') throw new Wrong(first.at, `a field or a text is expected instead of ${shown(first)}`);
    return { kind: 'text', field: 'text', test: containing(first) };
  }

  #about(field: Token): Expression {
    const name = field.text.toLowerCase();
    const operator = this.#take();
    const texts = textFields.find((known) => known === name);
    if (texts) return this.#text(texts, operator);
    const numbers = numberFields.find((known) => known === name);
    if (numbers) return this.#number(numbers, operator);
    throw new Wrong(field.at, `"${field.text}" is no field; fields are ${[...textFields, ...numberFields].join(', ')}`);
  }

  #text(field: TextField, operator: Token): Expression {
    if (operator.kind === 'word') {
      const values = this.#list();
      if (field === 'kind') values.forEach(knownKind);
      const parts = values.map((value): Expression => ({ kind: 'text', field, test: equal(value) }));
      return parts.length === 1 ? parts[0] : { kind: 'or', parts };
    }
    if (['<', '<=', '>', '>='].includes(operator.text))
      throw new Wrong(operator.at, `${field} is a text; =, !=, ~ and !~ are allowed`);
    const value = this.#value();
    if (field === 'kind' && !operator.text.endsWith('~')) knownKind(value);
    const globs = field === 'page' || field === 'url' || field === 'site';
    const test = operator.text.endsWith('~') ? (globs ? glob(value) : containing(value)) : equal(value);
    const found: Expression = { kind: 'text', field, test };
    return operator.text.startsWith('!') ? { kind: 'not', part: found } : found;
  }

  #number(field: NumberField, operator: Token): Expression {
    const comparison = (['=', '!=', '<', '<=', '>', '>='] as const).find((known) => known === operator.text);
    if (!comparison) throw new Wrong(operator.at, `${field} is a number; =, !=, <, <=, > and >= are allowed`);
    const value = this.#value();
    const number = Number(value.text);
    if (value.kind === 'pattern' || value.text === '' || !Number.isFinite(number))
      throw new Wrong(value.at, `${field} needs a number, not ${shown(value)}`);
    return { kind: 'number', field, comparison, value: number };
  }

  #value(): Token {
    const token = this.#take();
    if (token.kind === 'end' || token.kind === 'sign')
      throw new Wrong(
        token.at,
        `a value is expected${token.kind === 'end' ? ' at the end' : ` instead of ${shown(token)}`}`,
      );
    return token;
  }

  #list(): Token[] {
    if (!this.#isSign('(')) throw new Wrong(this.#peek().at, '"in" needs a list such as (one, two)');
    this.#take();
    const values = [this.#value()];
    while (this.#isSign(',')) {
      this.#take();
      values.push(this.#value());
    }
    if (!this.#isSign(')')) throw new Wrong(this.#peek().at, '"," or ")" is expected in the list');
    this.#take();
    return values;
  }
}

/** A kind that does not exist would match nothing for ever, and nobody would learn of it. */
function knownKind(value: Token): void {
  if (value.kind !== 'pattern' && !changeKinds.some((kind) => kind === value.text.toLowerCase()))
    throw new Wrong(value.at, `"${value.text}" is no kind of change; kinds are ${changeKinds.join(', ')}`);
}

const shown = (token: Token): string => (token.kind === 'end' ? 'the end' : `"${token.text}"`);

function equal(value: Token): TextTest {
  return value.kind === 'pattern'
    ? compiled(value, value.text, value.flags)
    : { kind: 'equals', value: value.text.toLowerCase() };
}

function containing(value: Token): TextTest {
  return value.kind === 'pattern'
    ? compiled(value, value.text, value.flags)
    : { kind: 'contains', value: value.text.toLowerCase() };
}

function glob(value: Token): TextTest {
  if (value.kind === 'pattern' || !value.text.includes('*')) return containing(value);
  const pattern = value.text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*');
  return compiled(value, `^${pattern}$`, 'i');
}

function compiled(value: Token, pattern: string, given: string): TextTest {
  const flags = given.includes('u') ? given : `${given}u`;
  try {
    return { kind: 'matches', pattern, flags: new RegExp(pattern, flags).flags };
  } catch (error) {
    throw new Wrong(
      value.at,
      `the regular expression is not valid: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

export function parseExpression(text: string): ParsedExpression {
  if (text.length > charactersMax)
    return { kind: 'wrong', at: charactersMax, sentence: `it is longer than ${charactersMax} characters` };
  try {
    return { kind: 'parsed', expression: new Parser(tokens(text)).whole() };
  } catch (error) {
    if (error instanceof Wrong)
      return { kind: 'wrong', at: error.at, sentence: `at character ${error.at + 1}: ${error.message}` };
    throw error;
  }
}

/** Whether deciding needs the texts of two versions, which cost a read. */
export function needsTexts(expression: Expression): boolean {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return expression.parts.some(needsTexts);
    case 'not':
      return needsTexts(expression.part);
    case 'text':
      return ['text', 'added', 'removed'].includes(expression.field);
    case 'number':
      return expression.field === 'size';
    case 'all':
      return false;
  }
}
