import {
  AssignTag,
  BreakTag,
  CaptureTag,
  CaseTag,
  CommentTag,
  type Context,
  ContinueTag,
  CycleTag,
  DecrementTag,
  EchoTag,
  type Emitter,
  evalToken,
  ForTag,
  IfTag,
  IncrementTag,
  InlineCommentTag,
  type Liquid,
  LiquidTag,
  type Parser,
  RawTag,
  Tag,
  type TagToken,
  type Template,
  TokenKind,
  UnlessTag,
  type ValueToken,
} from 'liquidjs';
import { BUDGET, type Budget } from '../limits.ts';
import { BoundedEmitter, SafeText, textOf, type ValueWriter } from '../values.ts';
import { RenderTag } from './render-tag.ts';
import { BoundedTablerow } from './tablerow.ts';

/** The tokens behind a tag. */
export type Tokens = ConstructorParameters<typeof ForTag>[1];

/**
 * The first node in the body of a loop, which is rendered once per iteration: it also says which loop is
 * around that one.
 */
const countTurn = (token: TagToken): Template => ({
  token,
  render(context: Context, _emitter: Emitter) {
    context.getRegister<Budget | undefined>(BUDGET)?.countTurn();
  },
});

class BoundedFor extends ForTag {
  constructor(token: TagToken, rest: Tokens, liquid: Liquid, parser: Parser) {
    super(token, rest, liquid, parser);
    this.templates.unshift(countTurn(token));
  }
}

/**
 * A capture whose text is bounded like the whole. In html it is safe, since its values were escaped on the
 * way in; in text with braces too, where they can be a placeholder of the service, which its values were kept
 * from making.
 */
const captureFor = (writing: ValueWriter) =>
  class BoundedCapture extends CaptureTag {
    override *render(context: Context): Generator<unknown, void, string> {
      const emitter = new BoundedEmitter();
      yield this.liquid.renderer.renderTemplates(this.templates, context, emitter);
      const { buffer } = emitter;
      const captured = writing.escapes || buffer.includes('{{') ? new SafeText(buffer) : buffer;
      Reflect.set(context.bottom(), this.variable, captured);
    }
  };

/** A cycle with a name is known by it alone, whatever it goes through. */
class NamedCycle extends CycleTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
    const { group, candidates } = this as unknown as Readonly<{ group?: ValueToken; candidates: object[] }>;
    if (group === undefined) return yield* super.render(context, emitter);
    const places = context.getRegister<Record<string, number>>('cycles', {});
    const name = textOf(yield evalToken(group, context));
    const at = Object.hasOwn(places, name) ? (places[name] ?? 0) : 0;
    const chosen = candidates[at];
    places[name] = at + 1 < candidates.length ? at + 1 : 0;
    if (chosen === undefined) return '';
    const one = Object.assign(Object.create(CycleTag.prototype), this, {
      group: undefined,
      candidates: [chosen],
    });
    return yield* (one as CycleTag).render(context, emitter);
  }
}

/** Notes for readers of the source. They are left out, and not parsed. */
class DocTag extends Tag {
  constructor(token: TagToken, rest: Tokens, liquid: Liquid) {
    super(token, rest, liquid);
    this.tokenizer.skipBlank();
    if (!this.tokenizer.end()) throw new Error('doc takes nothing');
    for (let next = rest.shift(); next; next = rest.shift())
      if (next.kind === TokenKind.Tag && (next as TagToken).name === 'enddoc') return;
    throw new Error(`tag ${token.getText()} not closed`);
  }

  render(): void {}
}

/** A block that is written where it differs from the last one that was. */
class IfChangedTag extends Tag {
  readonly #templates: Template[] = [];

  constructor(token: TagToken, rest: Tokens, liquid: Liquid, parser: Parser) {
    super(token, rest, liquid);
    const stream = parser
      .parseStream(rest)
      .on('tag:endifchanged', () => stream.stop())
      .on('template', (template: Template) => this.#templates.push(template))
      .on('end', () => {
        throw new Error(`tag ${token.getText()} not closed`);
      });
    stream.start();
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const written = new BoundedEmitter();
    yield this.liquid.renderer.renderTemplates(this.#templates, context, written);
    if (context.getRegister('written', '') === written.buffer) return;
    context.setRegister('written', written.buffer);
    emitter.write(written.buffer);
  }

  // biome-ignore lint/correctness/useYield: the library asks for a generator.
  *children(): Generator<unknown, Template[]> {
    return this.#templates;
  }
}

/** The tags. Those that read files (`include`, `layout`, `block`) are not among them. */
export const tagsFor = (writing: ValueWriter) => ({
  '#': InlineCommentTag,
  assign: AssignTag,
  break: BreakTag,
  capture: captureFor(writing),
  case: CaseTag,
  comment: CommentTag,
  continue: ContinueTag,
  cycle: NamedCycle,
  decrement: DecrementTag,
  doc: DocTag,
  echo: EchoTag,
  for: BoundedFor,
  if: IfTag,
  ifchanged: IfChangedTag,
  increment: IncrementTag,
  liquid: LiquidTag,
  raw: RawTag,
  render: RenderTag,
  tablerow: BoundedTablerow,
  unless: UnlessTag,
});
