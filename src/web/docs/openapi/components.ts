import { JSON_TYPE } from '../../../http/body/media-type.ts';
import type { OwnHeader } from '../../../http/request/route.ts';
import { type FailureCode, STATUS_OF } from '../../../platform/errors/failure.ts';
import { FilterComponent } from '../../../platform/filters/schema.ts';
import { CODE_NAMES, CODES } from '../codes.ts';
import type { Components, Header, Reference, ResponseObject } from './document.ts';
import type { JsonSchema } from './json-schema.ts';

/** The header for repeating a POST safely. */
export const idempotencyKey: Reference = { $ref: '#/components/parameters/IdempotencyKey' };

const OWN_HEADERS = {
  'x-svc-test-clock': {
    // Generators write parameters and schemas into one folder, and `TestClock` is a schema.
    name: 'TestClockId',
    description:
      "The id of a test clock; test keys only. The request's emails and records follow this clock instead of the real time.",
    schema: { type: 'string', pattern: '^clk_[0-9a-hjkmnp-tv-z]{24}$' },
  },
  'x-svc-simulate': {
    name: 'Simulate',
    description:
      "The outcomes of the request's emails, separated by commas, such as `deferred*2, delivered, opened+5m, bounced+3d`; test keys only. An email's own `simulate` takes precedence.",
    schema: { type: 'string', minLength: 1, maxLength: 1_000 },
  },
} as const satisfies Readonly<Record<OwnHeader, object>>;

/** A header that only some endpoints read. */
export const ownHeader = (header: OwnHeader): Reference => ({
  $ref: `#/components/parameters/${OWN_HEADERS[header].name}`,
});

const headerReference = (name: string): Reference => ({ $ref: `#/components/headers/${name}` });

/** The headers of every response. */
export const commonHeaders = {
  'x-request-id': headerReference('RequestId'),
  'x-ratelimit-limit': headerReference('RateLimitLimit'),
  'x-ratelimit-remaining': headerReference('RateLimitRemaining'),
  'x-ratelimit-reset': headerReference('RateLimitReset'),
};

/** The header of a reply that was stored. */
export const replayedHeader = { 'idempotency-replayed': headerReference('IdempotencyReplayed') };

/** The name of the response for these codes, which share a status. */
export const failureResponseName = (codes: readonly FailureCode[]): string => codes.join('.');

const HEADERS: Readonly<Record<string, Header>> = {
  RequestId: {
    description: 'Identifies this request in the log of the service.',
    schema: { type: 'string', pattern: '^req_[0-9a-hjkmnp-tv-z]{24}$' },
  },
  RateLimitLimit: {
    description: 'The number of requests that this address may send per minute.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimitRemaining: {
    description: 'The number of requests left in the window.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitReset: {
    description: 'Seconds until the window ends.',
    schema: { type: 'integer', minimum: 1 },
  },
  RetryAfter: {
    description: 'Seconds to wait before the next try.',
    schema: { type: 'integer', minimum: 1 },
  },
  IdempotencyReplayed: {
    description: '`true` when this is the stored reply to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const ERROR: JsonSchema = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'docs'],
      additionalProperties: false,
      properties: {
        code: { type: 'string', enum: CODE_NAMES, description: 'The stable code for programs to branch on.' },
        message: { type: 'string', description: 'A sentence for people; it may change.' },
        docs: { type: 'string', format: 'uri', description: 'The page that explains the code.' },
        suggestion: { type: 'string', description: 'The suggested fix.' },
        details: {
          type: 'array',
          description: 'With VALIDATION_ERROR: all wrong values, at most twenty.',
          items: {
            type: 'object',
            required: ['path', 'message'],
            additionalProperties: false,
            properties: {
              path: { type: 'string', description: 'A JSON pointer into the request, such as `/body/to/3`.' },
              message: { type: 'string', description: 'The fix for this value.' },
            },
          },
        },
      },
    },
  },
};

const PAGINATION: JsonSchema = {
  type: 'object',
  required: ['hasMore', 'nextCursor'],
  additionalProperties: false,
  properties: {
    hasMore: {
      type: 'boolean',
      description: 'True when another page follows, however many items this one has.',
    },
    nextCursor: {
      type: ['string', 'null'],
      description: 'The value of `after` for the next page; null on the last one.',
    },
  },
};

/** The components that operations refer to. `responses` lists the groups of codes that they really use. */
export function componentsOf(
  responses: readonly (readonly FailureCode[])[],
  schemas: Readonly<Record<string, JsonSchema>>,
  baseUrl: string,
): Components {
  const named = new Map(responses.map((codes) => [failureResponseName(codes), codes]));
  return {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'An API key: `svc_live_` for real email or `svc_test_` for simulated email, and 32 characters.',
      },
    },
    parameters: {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Makes the request safe to repeat for 24 hours: a repeat gets the stored reply and has no further effect. The same body with another `x-svc-test-clock` or `x-svc-simulate` counts as another request. Use a UUID.',
        schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
      },
      ...Object.fromEntries(
        Object.entries(OWN_HEADERS).map(([header, { name, description, schema }]) => [
          name,
          { name: header, in: 'header', required: false, description, schema },
        ]),
      ),
    },
    headers: HEADERS,
    schemas: { Error: ERROR, Pagination: PAGINATION, Filter: FilterComponent, ...schemas },
    responses: Object.fromEntries(
      [...named]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, codes]) => [name, failureResponse(codes, baseUrl)]),
    ),
  };
}

function failureResponse(codes: readonly FailureCode[], baseUrl: string): ResponseObject {
  const status = codes[0] === undefined ? 0 : STATUS_OF[codes[0]];
  return {
    description: codes.map((code) => `\`${code}\`: ${CODES[code].meaning}`).join('\n\n'),
    headers: {
      ...commonHeaders,
      ...((status === 429 || status === 503) && { 'retry-after': headerReference('RetryAfter') }),
    },
    content: {
      [JSON_TYPE]: {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, baseUrl) }])),
      },
    },
  };
}

function exampleOf(code: FailureCode, baseUrl: string): unknown {
  const details = [{ path: '/body/to/3', message: 'Send a string.' }];
  return {
    error: {
      code,
      message: CODES[code].message,
      docs: `${baseUrl}/docs/errors#${code}`,
      ...(code === 'VALIDATION_ERROR' && { details }),
    },
  };
}
