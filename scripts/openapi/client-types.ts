import type { OpenApiDocument, Operation } from '../../src/web/docs/openapi/document.ts';
import type { JsonSchema } from '../../src/web/docs/openapi/json-schema.ts';

// The types of the web application's requests. Ours: openapi-typescript works through a compiler API that
// TypeScript 7 does not have, and the schemas of the document use a dozen keywords.

const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

/** A schema as a TypeScript type. */
function typeOf(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return schema.$ref.replace('#/components/schemas/', '');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((each) => wrapped(typeOf(each))).join(' | ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['unknown']);
  return types.map((type) => ofType(type, schema)).join(' | ');
}

const wrapped = (type: string): string => (type.includes(' ') && !type.startsWith('{') ? `(${type})` : type);

function ofType(type: string, schema: JsonSchema): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `readonly ${wrapped(typeOf(schema.items ?? {}))}[]`;
  if (type !== 'object') return type;
  const { properties, additionalProperties: others, patternProperties } = schema;
  if (properties && Object.keys(properties).length > 0) return objectOf(properties, schema.required ?? []);
  const [pattern] = Object.values((patternProperties ?? {}) as Readonly<Record<string, JsonSchema>>);
  const values = pattern ?? (typeof others === 'object' ? others : {});
  return `Readonly<Record<string, ${typeOf(values)}>>`;
}

function objectOf(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): string {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `readonly ${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}${required.includes(name) ? '' : ' | undefined'};`,
  );
  return `{ ${members.join(' ')} }`;
}

/** The parameters of an operation in one place. */
function parametersOf({ parameters = [] }: Operation, place: string): string {
  const here = parameters.flatMap((each) => ('in' in each && each.in === place ? [each] : []));
  return objectOf(
    Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
    here.flatMap(({ name, required }) => (required ? [name] : [])),
  );
}

/** The answer of an operation: its `data`, with or without further pages, or text of another type. */
function answerOf({ responses }: Operation): string {
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const content = response && 'content' in response ? (response.content ?? {}) : {};
  const json = content['application/json']?.schema;
  const data = json?.properties?.data;
  const [type] = Object.keys(content);
  const other = type === undefined ? 'null' : type.startsWith('text/') ? 'string' : 'Blob';
  return `data: ${data ? typeOf(data) : other}; isList: ${json?.properties?.pagination !== undefined}`;
}

function bodyOf({ requestBody }: Operation): string {
  if (!requestBody) return 'null';
  const json = requestBody.content['application/json']?.schema;
  return json ? typeOf(json) : 'Blob';
}

/** The types of everything that the document describes under `/v1`. */
export function clientTypesOf({ components, paths }: OpenApiDocument): string {
  const lines = [
    '// Written by scripts/openapi.ts from the routes: `bun run generate`.',
    '',
    ...Object.entries(components.schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema)};`),
    '',
    '/** Every request by method and path: what it takes, and the data that it answers with. */',
    'export interface Operations {',
    ...Object.entries(paths)
      .filter(([path]) => path.startsWith('/v1/'))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(
          ([method, operation]) =>
            `  '${method.toUpperCase()} ${path.slice('/v1'.length)}': { path: ${parametersOf(operation, 'path')}; query: ${parametersOf(operation, 'query')}; body: ${bodyOf(operation)}; ${answerOf(operation)} };`,
        ),
      ),
    '}',
  ];
  return `${lines.join('\n')}\n`;
}
