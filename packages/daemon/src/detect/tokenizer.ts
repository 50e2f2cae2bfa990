/**
 * parse5's tokenizer with text taken in runs. It reads one character at a time and makes a token of every word and of every
 * gap between words, which is most of what parsing a page costs; where a state only collects (text, scripts, styles,
 * attribute values), everything up to the next character that could mean something is taken at once.
 *
 * The tree is the same one: words and gaps are treated alike once a word has been seen, everywhere but among frames
 * (`parseDocument` leaves pages with frames to parse5 as it is), and no run reaches over what parse5 rewrites (carriage
 * returns, surrogates, references, zeros). `tokenizer.test.ts` holds both parsers against each other.
 */
import { Parser, Token, Tokenizer, type ParserOptions, type TreeAdapterTypeMap } from 'parse5';

const textRun = /[^<&\0\r\ud800-\udfff]+/y;
const quotedRun = /[^"&\0\r\ud800-\udfff]+/y;
const apostrophedRun = /[^'&\0\r\ud800-\udfff]+/y;

class RunTokenizer extends Tokenizer {
  /** What was collected last ends at the current character: takes what `run` matches after it as well. */
  #collect(run: RegExp): void {
    const { preprocessor } = this;
    const from = preprocessor.pos + 1;
    if (this.runEnd !== from) return;
    run.lastIndex = from;
    if (!run.test(preprocessor.html)) return;
    preprocessor.pos = run.lastIndex - 1;
    this.runEnd = run.lastIndex;
  }

  #collectText(state: number, cp: number): void {
    if (cp > 0x20 && this.state === state && this.currentCharacterToken?.type === Token.TokenType.CHARACTER)
      this.#collect(textRun);
  }

  protected override _stateData(cp: number): void {
    const { state } = this;
    super._stateData(cp);
    this.#collectText(state, cp);
  }

  protected override _stateRcdata(cp: number): void {
    const { state } = this;
    super._stateRcdata(cp);
    this.#collectText(state, cp);
  }

  protected override _stateRawtext(cp: number): void {
    const { state } = this;
    super._stateRawtext(cp);
    this.#collectText(state, cp);
  }

  protected override _stateScriptData(cp: number): void {
    const { state } = this;
    super._stateScriptData(cp);
    this.#collectText(state, cp);
  }

  protected override _stateAttributeValueDoubleQuoted(cp: number): void {
    const { state } = this;
    super._stateAttributeValueDoubleQuoted(cp);
    if (this.state === state) this.#collect(quotedRun);
  }

  protected override _stateAttributeValueSingleQuoted(cp: number): void {
    const { state } = this;
    super._stateAttributeValueSingleQuoted(cp);
    if (this.state === state) this.#collect(apostrophedRun);
  }
}

class RunParser<T extends TreeAdapterTypeMap> extends Parser<T> {
  constructor(options: ParserOptions<T>) {
    super(options);
    const tokenizer = new RunTokenizer(this.options, this);
    tokenizer.inForeignNode = this.tokenizer.inForeignNode;
    this.tokenizer = tokenizer;
  }
}

const frames = /<frameset/i;

/** As parse5's `parse`. */
export function parseDocument<T extends TreeAdapterTypeMap>(source: string, options: ParserOptions<T>): T['document'] {
  const parser = frames.test(source) ? new Parser<T>(options) : new RunParser<T>(options);
  parser.tokenizer.write(source, true);
  return parser.document;
}
