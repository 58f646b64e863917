import {
  Context,
  evalQuotedToken,
  Liquid,
  LiquidError,
  Output,
  type QuotedToken,
  type Template,
  type Token,
  TokenKind,
  toValueSync,
  Value,
} from 'liquidjs';
import { problemOfExpression, problemOfOutput, remedyFor } from './expressions.ts';
import { filtersFor, guarded } from './filters/filters.ts';
import { problemOfArguments } from './filters/language-filters.ts';
import { isLongFormat, LONG_FORMAT, unknownDirective } from './filters/strftime.ts';
import { BUDGET, Budget, exceeded, LANGUAGE, LIQUID_LIMITS, LiquidProblem, NOW, TooSlow } from './limits.ts';
import { RenderTag } from './tags/render-tag.ts';
import { tagsFor } from './tags/tags.ts';
import { BoundedEmitter, IN_HTML, IN_TEXT, type ValueWriter } from './values.ts';

/** A source that was parsed. */
export type ParsedSource = readonly Template[];

/** The names that a rendering may use, with their values, and its moment in epoch milliseconds. */
export interface Scope {
  readonly names: Readonly<Record<string, unknown>>;
  readonly now: number;
}

/** A scope with the budget that its parts share. */
export interface RenderScope extends Scope {
  readonly budget?: Budget;
  /** The language in which dates and numbers are written; null and absent where none is named. */
  readonly language?: string | null;
}

/** A place in a source that another template fills. */
export interface Slot {
  /** The partial; null where the content of a layout goes. */
  readonly partial: string | null;
  /** The offsets of the tag or output, with its braces. */
  readonly begin: number;
  readonly end: number;
  /** The parameters as they are written, and their names. */
  readonly written: string;
  readonly parameters: readonly string[];
}

/** Reads and renders untrusted Liquid. */
export interface LiquidEngine {
  /** @throws LiquidProblem that tells line and column */
  parse(source: string): ParsedSource;
  /** @throws LiquidProblem, TooSlow */
  render(parsed: ParsedSource, rendering: RenderScope): string;
  /**
   * Refuses expressions that are read in part alone, and arguments of filters that are wrong for every value.
   * `language`: that of the source; null where none is known. What was stored before is rendered as it was.
   * @throws LiquidProblem that tells line and column
   */
  examineValues(parsed: ParsedSource, language: string | null): void;
  /**
   * The places of partials, and of the content in a layout. @throws LiquidProblem for a block that only the
   * service writes
   */
  slotsOf(parsed: ParsedSource): readonly Slot[];
  /** The paths of the names that a source uses and does not set itself, such as `order.total`. */
  namesOf(parsed: ParsedSource): readonly string[];
}

function engineFor(writing: ValueWriter): LiquidEngine {
  const liquid = new Liquid({
    // With it there is no way to a file.
    templates: {},
    ownPropertyOnly: true,
    strictFilters: true,
    lenientIf: true,
    locale: 'en-US',
    timezoneOffset: 0,
    outputEscape: writing.write,
  });
  const filters = filtersFor(writing);
  for (const name of Object.keys(liquid.filters)) if (!filters.has(name)) liquid.unregisterFilter(name);
  // `raw` tells the library that this text is not to be escaped.
  for (const [name, spec] of filters)
    liquid.registerFilter(name, { handler: guarded(name, spec), raw: name === 'raw' });
  const tags = tagsFor(writing);
  for (const name of Object.keys(liquid.tags)) if (!(name in tags)) delete liquid.tags[name];
  for (const [name, tag] of Object.entries(tags)) liquid.registerTag(name, tag);

  return {
    parse(source) {
      refuseDeepNesting(source);
      refuseLongTags(source);
      try {
        return liquid.parse(source);
      } catch (error) {
        throw problemOf(error, true);
      }
    },
    render(parsed, { names, now, language, budget = new Budget() }) {
      const context = new Context(names, liquid.options, { sync: true }, { liquid });
      context.memoryLimit = budget.allocations as unknown as Context['memoryLimit'];
      context.renderLimit = budget as unknown as Context['renderLimit'];
      context.setRegister(BUDGET, budget);
      context.setRegister(NOW, now);
      context.setRegister(LANGUAGE, language ?? '');
      const emitter = new BoundedEmitter();
      try {
        toValueSync(liquid.renderer.renderTemplates([...parsed], context, emitter));
      } catch (error) {
        throw problemOf(error, false);
      }
      return emitter.buffer;
    },
    examineValues(parsed, language) {
      refuseBrokenExpressions(parsed);
      refuseWrongArguments(parsed, language);
    },
    slotsOf: (parsed) => [...slotsIn(parsed)],
    namesOf: (parsed) => liquid.globalFullVariablesSync(withoutRepeats(parsed)),
  };
}

/** The engine of html, which escapes every value, and the one of texts and subjects, which does not. */
export const htmlLiquid = engineFor(IN_HTML);
export const textLiquid = engineFor(IN_TEXT);

/**
 * An output that is written again names nothing that the first one does not, since what a source sets stays
 * set. For each of them the library counts the lines from the beginning: 600 in a source of 40 KB took 71 ms.
 */
function withoutRepeats(parsed: ParsedSource): Template[] {
  const seen = new Set<string>();
  return parsed.filter((template) => {
    if (!(template instanceof Output)) return true;
    const text = template.token.getText();
    const isFirst = !seen.has(text);
    seen.add(text);
    return isFirst;
  });
}

const BLOCK = /\{%-?\s*(end)?(if|unless|case|for|tablerow|capture|comment|render(?!\s*["']))\b/g;

/**
 * The parser calls itself once a block, and would fill the stack; twenty thousand blocks took it half a
 * second to refuse.
 */
function refuseDeepNesting(source: string): void {
  let depth = 0;
  for (const [, end] of source.matchAll(BLOCK)) {
    depth += end ? -1 : 1;
    if (depth > LIQUID_LIMITS.nesting) exceeded('nesting');
  }
}

/** A long chain of filters or conditions takes time that only the end of the thread stops. */
function refuseLongTags(source: string): void {
  for (const { 0: opening, index } of source.matchAll(/\{[{%]/g)) {
    const longest = source.slice(index, index + LIQUID_LIMITS.tag + 2);
    if (longest.length > LIQUID_LIMITS.tag && !longest.includes(opening === '{{' ? '}}' : '%}'))
      exceeded('tag');
  }
}

/** The values that a source writes, compares or goes through, with their filters. */
function* valuesIn(parsed: ParsedSource): Generator<Value> {
  for (const template of parsed) {
    for (const argument of template.arguments?.() ?? []) if (argument instanceof Value) yield argument;
    if (template.children) yield* valuesIn(toValueSync(template.children(false, true)) as ParsedSource);
  }
}

function* outputsIn(parsed: ParsedSource): Generator<Output> {
  for (const template of parsed) {
    if (template instanceof Output) yield template;
    else if (template.children) yield* outputsIn(toValueSync(template.children(false, true)) as ParsedSource);
  }
}

/** The output that stands for the content in a layout. */
const CONTENT = /^\{\{-?\s*content\s*-?\}\}$/;

function* slotsIn(parsed: ParsedSource): Generator<Slot> {
  for (const template of parsed) {
    const { token } = template;
    const text = token.getText();
    const slot = { begin: token.begin, end: token.end, written: '', parameters: [] };
    if (template instanceof RenderTag) {
      const [line, column] = token.getPosition();
      const place = `Line ${line}, column ${column}: `;
      if (template.partial === null)
        throw new LiquidProblem(`${place}render must name a partial: {% render 'footer' %}.`);
      if (!text.startsWith('{%'))
        throw new LiquidProblem(`${place}{% liquid %} cannot take render: write {% render %} outside of it.`);
      const written = text.replace(/^\{%-?\s*render\s*(?:'[^']*'|"[^"]*")\s*,?/, '').replace(/-?%\}$/, '');
      yield { ...slot, partial: template.partial, written, parameters: template.parameters };
    } else if (template instanceof Output) {
      if (CONTENT.test(text)) yield { ...slot, partial: null };
      continue;
    }
    const node: Template = template;
    if (node.children) yield* slotsIn(toValueSync(node.children(false, true)) as ParsedSource);
  }
}

const isQuoted = (argument: unknown): argument is QuotedToken =>
  typeof argument === 'object' &&
  argument !== null &&
  'kind' in argument &&
  argument.kind === TokenKind.Quoted;

function refuseBrokenExpressions(parsed: ParsedSource): void {
  for (const value of valuesIn(parsed)) {
    const problem = problemOfExpression(value);
    if (problem !== null) throw problemAt(problem.token, problem.message);
  }
  for (const output of outputsIn(parsed)) {
    const message = problemOfOutput(output);
    if (message !== null) throw problemAt(output.token, message);
  }
}

function problemAt(token: Token, message: string): LiquidProblem {
  const [line, column] = token.getPosition();
  return new LiquidProblem(`Line ${line}, column ${column}: ${message}${remedyFor(tagAt(token))}`);
}

function refuseWrongArguments(parsed: ParsedSource, language: string | null): void {
  for (const { filters } of valuesIn(parsed))
    for (const filter of filters) {
      const { name, args } = filter;
      const wrong = problemOfArguments(name, args, language);
      if (wrong !== null) {
        const { token } = filter as unknown as { readonly token: Pick<QuotedToken, 'getPosition'> };
        const [line, column] = token.getPosition();
        throw new LiquidProblem(`Line ${line}, column ${column}: ${lowered(wrong)}`);
      }
      const [format] = args;
      if (name !== 'date' || !isQuoted(format)) continue;
      const written = evalQuotedToken(format);
      const [line, column] = format.getPosition();
      const place = `Line ${line}, column ${column}: `;
      if (isLongFormat(written)) throw new LiquidProblem(place + lowered(LONG_FORMAT));
      const unknown = unknownDirective(written);
      if (unknown !== null)
        throw new LiquidProblem(`${place}the filter date knows no ${unknown}; write %% for a percent sign.`);
    }
}

const LONGEST_REASON = 160;

/** A sentence with the place in the source, from whatever was thrown. */
function problemOf(thrown: unknown, isParsing: boolean): Error {
  if (!LiquidError.is(thrown))
    return thrown instanceof RangeError ? new LiquidProblem(TOO_DEEP) : asError(thrown);
  const { originalError: cause, token } = thrown as LiquidError & { originalError?: unknown };
  const [line, column] = token.getPosition();
  const place = `Line ${line}, column ${column}: `;
  if (cause instanceof TooSlow) return cause;
  if (cause instanceof LiquidProblem)
    return new LiquidProblem(`${place}${lowered(cause.message)}`, cause.dependsOnValues);
  if (cause instanceof RangeError) return new LiquidProblem(`${place}${lowered(TOO_DEEP)}`);
  const reason = thrown.message.replace(/, line:\d+, col:\d+$/, '');
  const isOurs = isParsing || (cause as Error | undefined)?.name === 'AssertionError';
  // Any other failure is an error of JavaScript, whose message says nothing to an author.
  const said = isOurs
    ? reason.slice(0, LONGEST_REASON).replace(/[\s.]+$/, '')
    : 'cannot be rendered with these values';
  const entity = isParsing ? entityIn(token) : null;
  const because =
    entity !== null
      ? ` An editor has encoded a character as ${entity}: write the character.`
      : isParsing
        ? remedyFor(tagAt(token))
        : '';
  return new LiquidProblem(`${place}${said}.${because}`, !isParsing);
}

const ENTITY = /&(?:[a-z]{2,6}|#\d{1,4}|#x[\da-f]{1,4});/i;

/** The tag or output at a place, from its braces on and without those at its end. */
function tagAt({ input, begin }: Token): string {
  const brace = Math.max(0, input.lastIndexOf('{{', begin), input.lastIndexOf('{%', begin));
  const start = input[brace - 1] === '{' ? brace - 1 : brace;
  return input.slice(start, start + LONGEST_REASON).split(/[%}]}/, 1)[0] ?? '';
}

/**
 * The entity that stands for a character of the tag at a place; null without one. Texts in quotes may hold
 * them.
 */
function entityIn(token: Token): string | null {
  const tag = tagAt(token);
  return ENTITY.exec(tag.replace(/"[^"]*"|'[^']*'/g, ''))?.[0] ?? null;
}

const TOO_DEEP = 'Must be nested less deeply.';
const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error('Liquid failed.'));
const lowered = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);
