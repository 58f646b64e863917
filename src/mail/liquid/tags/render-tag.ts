import {
  type Context,
  type Emitter,
  evalQuotedToken,
  evalToken,
  Hash,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  toValueSync,
  type ValueToken,
} from 'liquidjs';
import { LiquidProblem, SHARED } from '../limits.ts';

type Tokens = ConstructorParameters<typeof Tag>[1];

/** The key under which a partial's tag holds the fallbacks of its parameters, as JSON in percent encoding. */
export const FALLBACKS = '__fallbacks';
const PARAMETER = /^(?!__)[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const RENDER_FORM =
  'render takes the alias of a partial in quotes, then parameters such as `title: name`, and nothing else';

/**
 * `{% render 'alias', key: value %}` as an author writes it, and `{% render key: value %}…{% endrender %}`,
 * the block that takes its place when a version is made (src/automation/templates/layers). The block sees its
 * parameters and no other name.
 */
export class RenderTag extends Tag {
  /** The name of the partial; null in a block. */
  readonly partial: string | null;
  /** The names of the parameters. */
  readonly parameters: readonly string[];
  readonly #values: readonly (readonly [name: string, value: ValueToken])[];
  readonly #fallbacks: Readonly<Record<string, unknown>>;
  readonly #templates: Template[] = [];

  constructor(token: TagToken, rest: Tokens, liquid: Liquid, parser: Parser) {
    super(token, rest, liquid);
    const name = this.tokenizer.readQuoted();
    this.partial = name ? evalQuotedToken(name) : null;
    const { hash } = new Hash(this.tokenizer);
    this.tokenizer.skipBlank();
    const { [FALLBACKS]: fallbacks, ...others } = hash;
    const given = this.partial === null ? others : hash;
    this.parameters = Object.keys(given);
    const isRead = this.tokenizer.end() && Object.values(given).every((value) => value !== undefined);
    if (!isRead || !this.parameters.every((each) => PARAMETER.test(each))) throw new Error(RENDER_FORM);
    this.#fallbacks = fallbacks ? fallbacksIn(fallbacks.getText()) : {};
    this.#values = Object.entries(given) as [string, ValueToken][];
    if (this.partial === null) this.#readBlock(rest, parser);
  }

  #readBlock(rest: Tokens, parser: Parser): void {
    const stream = parser
      .parseStream(rest)
      .on('tag:endrender', () => stream.stop())
      .on('template', (template: Template) => this.#templates.push(template))
      .on('end', () => {
        throw new Error(RENDER_FORM);
      });
    stream.start();
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    if (this.partial !== null) throw new LiquidProblem('Must be saved before its partials can be rendered.');
    const scope: Record<string, unknown> = { ...this.#fallbacks };
    for (const [name, token] of this.#values) {
      const value: unknown = toValueSync(evalToken(token, context));
      if ((value ?? null) !== null) scope[name] = value;
    }
    const inner = context.spawn(scope);
    for (const register of SHARED) inner.setRegister(register, context.getRegister(register));
    yield this.liquid.renderer.renderTemplates(this.#templates, inner, emitter);
  }

  /** The values of its parameters: the names that it uses of the template around it. */
  *arguments(): Generator<ValueToken, void> {
    for (const [, value] of this.#values) yield value;
  }
}

function fallbacksIn(quoted: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(decodeURIComponent(quoted.slice(1, -1))) as Record<string, unknown>;
  } catch {
    throw new Error(RENDER_FORM);
  }
}
