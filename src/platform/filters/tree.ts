import type { Detail } from '../errors/failure.ts';
import { MOST_DETAILS, pointerSegment, shortened } from '../errors/schema-errors.ts';
import { allOf, anyOf, type Filter, not, Problems } from './condition.ts';
import { type Fields, fieldNames, findField } from './fields.ts';
import { OPERATORS } from './operators.ts';

/** The most levels of a filter; a single condition has one. */
export const DEEPEST = 8;
/** The most conditions of a filter, over all levels. */
export const MOST_CONDITIONS = 50;

/** Reads a filter from a client or from the database; returns all problems at once, at most twenty. */
export function readFilter<Row>(value: unknown, at: string, fields: Fields<Row>): Filter<Row> | Problems {
  const reader = new Reader(fields);
  const filter = reader.node(value, at, 1);
  return filter === null || reader.details.length > 0
    ? new Problems(reader.details.slice(0, MOST_DETAILS))
    : filter;
}

type Members = Readonly<Record<string, unknown>>;

const SHAPE =
  'Give one of {"and": […]}, {"or": […]}, {"not": …} and {"field": …, "operator": …, "value": …}.';

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isOperator = (value: unknown): value is (typeof OPERATORS)[number] =>
  OPERATORS.some((name) => name === value);

class Reader<Row> {
  readonly details: Detail[] = [];
  #conditions = 0;

  constructor(private readonly fields: Fields<Row>) {}

  /** Reads a filter at any level; null when it is invalid. */
  node(value: unknown, at: string, depth: number): Filter<Row> | null {
    if (depth > DEEPEST) return this.#refuse(at, `Nest at most ${DEEPEST} levels.`);
    if (!isObject(value)) return this.#refuse(at, SHAPE);
    const names = Object.keys(value);
    const [name = ''] = names;
    if (names.length !== 1 || !['and', 'or', 'not'].includes(name)) return this.#condition(value, at);
    const inner = value[name];
    if (name !== 'not') return this.#list(name, inner, `${at}/${name}`, depth + 1);
    const filter = this.node(inner, `${at}/not`, depth + 1);
    return filter && not(filter);
  }

  #list(name: string, value: unknown, at: string, depth: number): Filter<Row> | null {
    if (!Array.isArray(value) || value.length === 0)
      return this.#refuse(at, 'Give a list of at least one filter.');
    const filters: Filter<Row>[] = [];
    for (const [index, element] of value.entries()) {
      const filter = this.node(element, `${at}/${index}`, depth);
      if (filter) filters.push(filter);
      // A list may be as long as a body.
      if (this.#conditions > MOST_CONDITIONS || this.details.length >= MOST_DETAILS) return null;
    }
    return name === 'and' ? allOf(filters) : anyOf(filters);
  }

  #condition(members: Members, at: string): Filter<Row> | null {
    this.#conditions++;
    if (this.#conditions > MOST_CONDITIONS) {
      // Reported once: the lists around this one end as well.
      if (this.#conditions === MOST_CONDITIONS + 1)
        this.#refuse(at, `Use at most ${MOST_CONDITIONS} conditions in one filter.`);
      return null;
    }
    const { field: name, operator, value, ...others } = members;
    if (name === undefined && operator === undefined && value === undefined) return this.#refuse(at, SHAPE);
    for (const other of Object.keys(others).slice(0, MOST_DETAILS))
      this.#refuse(at + pointerSegment(other), `No such member. ${SHAPE}`);
    const field = typeof name === 'string' ? findField(this.fields, name) : null;
    if (!field) this.#refuse(`${at}/field`, `No such field; known are ${fieldNames(this.fields)}.`);
    const offered = OPERATORS.filter((known) => !field || Object.hasOwn(field, known));
    const bind = field && isOperator(operator) ? field[operator] : undefined;
    if (field ? !bind : !isOperator(operator))
      this.#refuse(
        `${at}/operator`,
        `${operator === undefined ? 'This is required' : 'No such operator here'}; known are ${offered.join(', ')}.`,
      );
    if (value === undefined) return this.#refuse(`${at}/value`, 'This is required.');
    const condition = bind?.(value);
    if (!(condition instanceof Problems)) return condition ?? null;
    for (const { path, message } of condition.details) this.#refuse(`${at}/value${path}`, message);
    return null;
  }

  #refuse(at: string, message: string): null {
    this.details.push({ path: shortened(at), message });
    return null;
  }
}
