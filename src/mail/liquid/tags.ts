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
  ForTag,
  IfTag,
  IncrementTag,
  InlineCommentTag,
  type Liquid,
  LiquidTag,
  type Parser,
  RawTag,
  TablerowTag,
  type TagToken,
  type Template,
  UnlessTag,
} from 'liquidjs';
import type { Budget } from './limits.ts';
import { BoundedEmitter, SafeText, type ValueWriter } from './values.ts';

type Tokens = ConstructorParameters<typeof ForTag>[1];

/** The register of a context that holds its budget. */
export const BUDGET = 'budget';

/** The first node in the body of a loop, which is rendered once per iteration. */
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

class BoundedTablerow extends TablerowTag {
  constructor(token: TagToken, rest: Tokens, liquid: Liquid, parser: Parser) {
    super(token, rest, liquid, parser);
    this.templates.unshift(countTurn(token));
  }
}

/** A capture whose text is bounded like the whole, and which in html is safe, since its values were escaped on the way in. */
const captureFor = (writing: ValueWriter) =>
  class BoundedCapture extends CaptureTag {
    override *render(context: Context): Generator<unknown, void, string> {
      const emitter = new BoundedEmitter();
      yield this.liquid.renderer.renderTemplates(this.templates, context, emitter);
      const captured = writing.escapes ? new SafeText(emitter.buffer) : emitter.buffer;
      Reflect.set(context.bottom(), this.variable, captured);
    }
  };

/** The tags. Those that read other templates (`include`, `render`, `layout`, `block`) are not among them. */
export const tagsFor = (writing: ValueWriter) => ({
  '#': InlineCommentTag,
  assign: AssignTag,
  break: BreakTag,
  capture: captureFor(writing),
  case: CaseTag,
  comment: CommentTag,
  continue: ContinueTag,
  cycle: CycleTag,
  decrement: DecrementTag,
  echo: EchoTag,
  for: BoundedFor,
  if: IfTag,
  increment: IncrementTag,
  liquid: LiquidTag,
  raw: RawTag,
  tablerow: BoundedTablerow,
  unless: UnlessTag,
});
