import { type Html, html, inline } from './html.ts';
import type { JsonSchema } from './json-schema.ts';

/** The members of an object as a table, in which inner objects are collapsed. */
export function memberTable(schema: JsonSchema): Html {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => html`<tr><th scope="row"><code>${name}</code>${
      required.has(name) ? html` <span class="required">required</span>` : ''
    }</th><td>${describe(member)}</td></tr>
`,
  );
  return html`<table class="members">${rows}</table>`;
}

/** The type, the meaning and the limits of a value, then its members. */
export function describe(schema: JsonSchema): Html {
  const bounds = boundsOf(schema);
  const inner = objectWithin(schema);
  return html`<span class="type">${typeOf(schema)}</span>${schema.description && html` ${inline(schema.description)}`}${
    bounds.length > 0 && html` <span class="bounds">${inline(bounds.join(' · '))}</span>`
  }${inner && html`<details><summary>Members</summary>${memberTable(inner)}</details>`}`;
}

function typeOf({ type, items, anyOf, format, enum: choices, $ref }: JsonSchema): string {
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (choices) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  if (Array.isArray(type))
    return type.map((each) => typeOf({ type: each, ...(items && { items }) })).join(' or ');
  if (type === 'array') return items ? `array of ${typeOf(items)}` : 'array';
  if (format === 'date-time') return 'timestamp';
  return typeof type === 'string' ? type : 'any';
}

const BOUNDS: Readonly<Record<string, (bound: unknown) => string>> = {
  default: (bound) => `\`${JSON.stringify(bound)}\` unless stated`,
  minimum: (bound) => `at least ${bound}`,
  maximum: (bound) => `at most ${bound}`,
  minLength: (bound) => (bound === 1 ? 'not empty' : `at least ${bound} characters`),
  maxLength: (bound) => `at most ${bound} characters`,
  minItems: (bound) => `at least ${bound}`,
  maxItems: (bound) => `at most ${bound}`,
  maxProperties: (bound) => `at most ${bound} members`,
};

function boundsOf(schema: JsonSchema): string[] {
  return Object.entries(BOUNDS).flatMap(([keyword, say]) =>
    keyword in schema ? [say(schema[keyword])] : [],
  );
}

/** Finds the object schema of a value, of its items, or of one of its forms. */
function objectWithin(schema: JsonSchema): JsonSchema | undefined {
  if (schema.properties && Object.keys(schema.properties).length > 0) return schema;
  if (schema.items) return objectWithin(schema.items);
  return schema.anyOf?.map(objectWithin).find((inner) => inner !== undefined);
}
