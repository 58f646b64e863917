import type { TSchema } from '@sinclair/typebox';

/** A JSON Schema (2020-12) in an OpenAPI 3.1 document. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly [keyword: string]: unknown;
}

/**
 * Converts a TypeBox schema to plain JSON, with choices of constants as `enum` and `null` as one of the
 * types. The result accepts the same values.
 */
export function toJsonSchema(schema: TSchema, named?: NamedSchemas): JsonSchema {
  return simplify(JSON.parse(JSON.stringify(schema)) as JsonSchema, named);
}

/**
 * The schemas with a name of their own (`title`), which are in the document once and referred to elsewhere.
 */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonSchema>();

  /** Keeps the schema under its name. @throws when another one has it already */
  refer(name: string, schema: JsonSchema): JsonSchema {
    const known = this.#schemas.get(name);
    if (known && !Bun.deepEquals(known, schema)) throw new Error(`Two schemas have the name ${name}.`);
    this.#schemas.set(name, schema);
    return { $ref: `${SCHEMAS}${name}` };
  }

  /** All of them by name. */
  all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const SCHEMAS = '#/components/schemas/';

function simplify({ title, ...schema }: JsonSchema, named: NamedSchemas | undefined): JsonSchema {
  const simple = simplifyForm(schema, named);
  return typeof title === 'string' && named ? named.refer(title, simple) : simple;
}

function simplifyForm(schema: JsonSchema, named: NamedSchemas | undefined): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...rest } = schema;
  const inner = {
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, simplify(part, named)]),
      ),
    }),
    ...(items && { items: simplify(items, named) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object'
          ? simplify(additionalProperties, named)
          : additionalProperties,
    }),
  };
  return anyOf
    ? merge(
        rest,
        anyOf.map((form) => simplify(form, named)),
      )
    : { ...rest, ...inner };
}

function merge(rest: JsonSchema, forms: readonly JsonSchema[]): JsonSchema {
  if (forms.every((form) => 'const' in form)) {
    const types = new Set(forms.map(({ type }) => type));
    return {
      ...rest,
      ...(types.size === 1 && { type: forms[0]?.type }),
      enum: forms.map((form) => form.const),
    } as JsonSchema;
  }
  const [form] = forms.filter(({ type }) => type !== 'null');
  const isNullable = forms.length === 2 && form !== undefined && forms.some(({ type }) => type === 'null');
  if (!isNullable || typeof form.type !== 'string') return { ...rest, anyOf: forms };
  const choices = form.enum && { enum: [...form.enum, null] };
  return { ...form, ...rest, type: [form.type, 'null'], ...choices };
}
