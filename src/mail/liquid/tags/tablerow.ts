import { type Context, Drop, type Emitter, evalToken, TablerowTag } from 'liquidjs';
import { decimalOf, toNumber } from '../filters/decimal.ts';
import { BUDGET, type Budget } from '../limits.ts';

/** The place in a table, by the names that the original Liquid has for it. */
class TablePlace extends Drop {
  at = 0;

  constructor(
    readonly length: number,
    private readonly columns: number,
  ) {
    super();
  }

  get index(): number {
    return this.at + 1;
  }
  get index0(): number {
    return this.at;
  }
  get rindex(): number {
    return this.length - this.at;
  }
  get rindex0(): number {
    return this.length - this.at - 1;
  }
  get first(): boolean {
    return this.at === 0;
  }
  get last(): boolean {
    return this.rindex0 === 0;
  }
  get row(): number {
    return Math.floor(this.at / this.columns) + 1;
  }
  get col0(): number {
    return this.at % this.columns;
  }
  get col(): number {
    return this.col0 + 1;
  }
  get col_first(): boolean {
    return this.col0 === 0;
  }
  get col_last(): boolean {
    return this.col === this.columns;
  }
}

/** Rows and cells as the original Liquid writes them. `break` ends the table, `continue` a cell. */
export class BoundedTablerow extends TablerowTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const all = itemsOf(yield evalToken(this.collection, context));
    const given = (yield this.args.render(context)) as Readonly<Record<string, unknown>>;
    const whole = (name: string, fallback: number): number =>
      given[name] === undefined || given[name] === null
        ? fallback
        : Math.max(0, Math.trunc(toNumber(decimalOf(given[name]))));
    const offset = whole('offset', 0);
    const items = all.slice(offset, offset + whole('limit', all.length));
    const place = new TablePlace(items.length, whole('cols', items.length) || Math.max(1, items.length));
    const scope: Record<string, unknown> = { tablerowloop: place };
    context.push(scope);
    for (const item of items) {
      context.getRegister<Budget | undefined>(BUDGET)?.countTurn();
      scope[this.variable] = item;
      if (place.first) emitter.write('<tr class="row1">\n');
      else if (place.col_first) emitter.write(`</tr>\n<tr class="row${place.row}">`);
      emitter.write(`<td class="col${place.col}">`);
      yield this.liquid.renderer.renderTemplates(this.templates, context, emitter);
      emitter.write('</td>');
      place.at++;
      const isOver = context.breakCalled;
      context.breakCalled = false;
      context.continueCalled = false;
      if (isOver) break;
    }
    if (items.length > 0) emitter.write('</tr>\n');
    context.pop();
  }
}

/** The items that a loop goes through. */
function itemsOf(value: unknown): readonly unknown[] {
  const given: unknown = value instanceof Drop ? value.valueOf() : value;
  if (Array.isArray(given)) return given;
  if (typeof given === 'string') return given === '' ? [] : [given];
  return typeof given === 'object' && given !== null ? Object.entries(given) : [];
}
