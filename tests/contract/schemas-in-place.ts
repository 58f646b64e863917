import type { OpenApiDocument } from '../../src/web/docs/openapi/document.ts';
import type { JsonSchema } from '../../src/web/docs/openapi/json-schema.ts';

const SCHEMAS = '#/components/schemas/';

/**
 * Replaces the references in an object by the schemas that they name, so that readers need not look them up.
 * No schema refers to itself.
 */
function inlined<Holder extends object>(
  holder: Holder,
  schemas: Readonly<Record<string, JsonSchema>>,
): Holder {
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref: reference } = value as { readonly $ref?: unknown };
    const name = typeof reference === 'string' ? reference.slice(SCHEMAS.length) : '';
    const found = schemas[name];
    return found
      ? resolve(found)
      : Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]));
  };
  return resolve(holder) as Holder;
}

/** The document with each schema where it is used, but a filter, which refers to itself. */
export function withSchemasInPlace(document: OpenApiDocument): OpenApiDocument {
  const { Error: _error, Pagination: _pagination, Filter: _filter, ...schemas } = document.components.schemas;
  return { ...document, paths: inlined(document.paths, schemas) };
}
