import type { TSchema } from '@sinclair/typebox';

/** A JSON Schema (2020-12) as OpenAPI 3.1 holds it. */
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
 * The schema as documents want it: plain JSON, choices of constants as `enum`, and `null` as one of the types. Nothing is
 * lost: it accepts the same values.
 */
export function toJsonSchema(schema: TSchema): JsonSchema {
  return simplify(JSON.parse(JSON.stringify(schema)) as JsonSchema);
}

function simplify(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, additionalProperties, ...rest } = schema;
  const inner = {
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, simplify(part)]),
      ),
    }),
    ...(items && { items: simplify(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? simplify(additionalProperties) : additionalProperties,
    }),
  };
  return anyOf ? merge(rest, anyOf.map(simplify)) : { ...rest, ...inner };
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
