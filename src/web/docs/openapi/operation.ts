import { JSON_TYPE } from '../../../http/body/media-type.ts';
import type { Tag } from '../../../http/module.ts';
import { permissionsOf } from '../../../http/request/endpoint.ts';
import { isList, type Route } from '../../../http/request/route.ts';
import { closed } from '../../../http/request/schema.ts';
import { type FailureCode, STATUS_OF } from '../../../platform/errors/failure.ts';
import { CODE_NAMES } from '../codes.ts';
import {
  commonHeaders,
  failureResponseName,
  idempotencyKey,
  ownHeader,
  replayedHeader,
} from './components.ts';
import type { MediaType, Operation, Parameter, Reference, ResponseObject } from './document.ts';
import { type JsonSchema, type NamedSchemas, toJsonSchema } from './json-schema.ts';
import { tagOf } from './tags.ts';

/** Converts a route to an operation of OpenAPI. */
export function operationOf(route: Route, tags: readonly Tag[], named: NamedSchemas): Operation {
  const permissions = permissionsOf(route);
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
  const requestBody = requestBodyOf(route, named);
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route.path, tags).name],
    summary: route.summary,
    description: [route.description, accessSentence(route)].filter(Boolean).join('\n\n'),
    ...(route.permission === 'public' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: { ...successesOf(route, named), ...failuresByStatus(route) },
    'x-permissions': permissions,
  };
}

/** Converts `/v1/emails/:id` to the form of OpenAPI, `/v1/emails/{id}`. */
export const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** Every code that the endpoint can answer with: those that follow from its route, and its own. */
function codesOf(route: Route): readonly FailureCode[] {
  const { permission, method, params = {}, failures = [] } = route;
  const isPublic = permission === 'public';
  const takesBody = method !== 'GET';
  const possible: Partial<Record<FailureCode, boolean>> = {
    UNAUTHORIZED: !isPublic,
    FORBIDDEN: permissionsOf(route).length > 0,
    TEST_MODE_NOT_SUPPORTED: route.testMode !== undefined,
    NOT_FOUND: Object.keys(params).length > 0,
    BAD_REQUEST: takesBody,
    UNSUPPORTED_MEDIA_TYPE: takesBody,
    PAYLOAD_TOO_LARGE: takesBody,
    VALIDATION_ERROR: !isPublic || takesBody || route.query !== undefined,
    IDEMPOTENCY_CONFLICT: !isPublic && method === 'POST',
    IDEMPOTENCY_IN_PROGRESS: !isPublic && method === 'POST',
    RATE_LIMITED: true,
    INTERNAL_ERROR: true,
    SERVICE_UNAVAILABLE: true,
  };
  return CODE_NAMES.filter((code) => possible[code] || failures.includes(code));
}

/** The codes of the endpoint by their status. */
export function codeGroupsOf(
  route: Route,
): readonly (readonly [status: number, codes: readonly FailureCode[]])[] {
  return [...Map.groupBy(codesOf(route), (code) => STATUS_OF[code])];
}

function operationIdOf({ name, method, path }: Route): string {
  if (name === undefined) throw new Error(`${method} ${path} is documented but has no name. Give it one.`);
  return name;
}

function accessSentence(route: Route): string {
  const permissions = permissionsOf(route).map((permission) => `\`${permission}\``);
  const needs =
    route.permission === 'public'
      ? 'Needs no API key.'
      : permissions.length === 0
        ? 'Any API key may call this.'
        : `Needs the permission${permissions.length > 1 ? 's' : ''} ${permissions.join(' and ')}.`;
  const limit = route.ipLimitPerMinute;
  return [
    needs,
    route.testMode === 'refused' ? 'Refuses test keys, because it reaches real recipients.' : '',
    route.testMode === 'members' ? 'Refuses test keys; members may call it in the test environment.' : '',
    limit === undefined
      ? ''
      : `At most ${limit} requests per minute and address, counted separately from other endpoints.`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** The random part of an id in examples. */
const SOME_ID = '01m7xj1rwzprnwr10308attx';

function pathParameters({ params = {} }: Route): readonly Parameter[] {
  return Object.entries(params).map(([name, spec]) => ({
    name,
    in: 'path',
    required: true,
    description:
      'resource' in spec ? `The id of the ${spec.resource}${spec.alias ? ', or its alias' : ''}.` : spec.text,
    schema:
      'resource' in spec
        ? {
            type: 'string',
            pattern: spec.alias?.source ?? `^${spec.prefix}_[0-9a-hjkmnp-tv-z]{24}$`,
            examples: [`${spec.prefix}_${SOME_ID}`],
          }
        : { type: 'string', minLength: 1, examples: ['ada@example.com'] },
  }));
}

function queryParameters({ query }: Route): readonly Parameter[] {
  if (!query) return [];
  const { properties = {}, required = [] } = toJsonSchema(query);
  return Object.entries(properties).map(([name, { description = '', example, ...schema }]) => ({
    name,
    in: 'query',
    // A parameter with a default is optional.
    required: required.includes(name) && schema.default === undefined,
    description,
    ...(typeof example === 'string' && { example }),
    schema,
  }));
}

function headerParameters({ method, permission, headers = [] }: Route): readonly Reference[] {
  const general = method === 'POST' && permission !== 'public' ? [idempotencyKey] : [];
  return [...general, ...headers.map(ownHeader)];
}

function requestBodyOf(
  { method, body, example, mediaTypes = [JSON_TYPE] }: Route,
  named: NamedSchemas,
): Operation['requestBody'] {
  if (method === 'GET' || !body) return undefined;
  const schema = toJsonSchema(closed(body), named);
  const media: MediaType = { schema, ...(example?.body !== undefined && { example: example.body }) };
  return {
    required: (body.required ?? []).length > 0 || !mediaTypes.includes(JSON_TYPE),
    content: Object.fromEntries(
      mediaTypes.map((type) => [type, type !== JSON_TYPE && mediaTypes.includes(JSON_TYPE) ? OCTETS : media]),
    ),
  };
}

/** A type beside JSON, whose body the schema does not describe. */
const OCTETS: MediaType = { schema: { type: 'string', format: 'binary' } };

const SUCCESS = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted: stored durably, and scheduled.',
  204: 'Done. The response has no body.',
} as const;

const successesOf = (route: Route, named: NamedSchemas): Readonly<Record<string, ResponseObject>> =>
  Object.fromEntries(
    [route.status, ...(route.otherwise === undefined ? [] : [route.otherwise])].map((status) => [
      status,
      successOf(route, status, named),
    ]),
  );

function successOf(route: Route, status: Route['status'], named: NamedSchemas): ResponseObject {
  const { method, permission, response, responseType = JSON_TYPE, example } = route;
  const isReplayable = method === 'POST' && permission !== 'public';
  const headers = { ...commonHeaders, ...(isReplayable && replayedHeader) };
  if (status === 204) return { description: SUCCESS[status], headers };
  const data = toJsonSchema(response, named);
  if (responseType !== JSON_TYPE)
    return {
      description: SUCCESS[status],
      headers,
      content: { [responseType]: { schema: data, example: example?.response } },
    };
  const paginated = isList(response) && route.query?.properties.after !== undefined;
  const media: MediaType = {
    schema: envelopeOf(data, paginated),
    ...(example?.response !== undefined && {
      example: {
        data: example.response,
        ...(paginated && { pagination: { hasMore: false, nextCursor: null } }),
      },
    }),
  };
  return { description: SUCCESS[status], headers, content: { [JSON_TYPE]: media } };
}

function envelopeOf(data: JsonSchema, paginated: boolean): JsonSchema {
  return {
    type: 'object',
    required: paginated ? ['data', 'pagination'] : ['data'],
    properties: {
      data,
      ...(paginated && { pagination: { $ref: '#/components/schemas/Pagination' } }),
    },
  };
}

function failuresByStatus(route: Route): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    codeGroupsOf(route).map(([status, codes]) => [
      status,
      { $ref: `#/components/responses/${failureResponseName(codes)}` },
    ]),
  );
}
