import { within } from '../../async/deadline.ts';
import { Failure, invalid } from '../failure.ts';
import type { BodyReservation } from './body-budget.ts';
import { findUnstorable, hasTooManyValues, MOST_VALUES, parseJson } from './json-text.ts';
import { isMediaType, JSON_TYPE } from './media-type.ts';

/** What an endpoint says of the bodies that it takes. */
export interface BodyRules {
  /** Bytes. */
  readonly limit: number;
  readonly mediaTypes: readonly string[];
  /** Whether a type must be named even where nothing is sent: no form of another site can name this one. */
  readonly needsType?: boolean;
}

/** A body that was not sent. Endpoints with fields then miss their required ones; endpoints without are content. */
export const NO_BODY = Symbol('no body');

/**
 * Reads and parses a request's body, refusing in this order: media type, size, syntax. JSON comes back as its value,
 * any other type as bytes. Whether the value fits the endpoint is for the schema to say. A length that was announced is
 * read in one go, which is fast; the HTTP parser holds the client to it.
 */
export async function readBody(
  request: Request,
  rules: BodyRules,
  bodyMs: number,
  place: BodyReservation,
): Promise<unknown> {
  const { headers } = request;
  if (headers.has('content-encoding')) return ENCODED;
  const type = headers.get('content-type');
  if (type !== null && !isMediaType(type, rules.mediaTypes)) return unsupported(rules);
  if (type === null && rules.needsType) return unsupported(rules);
  const length = headers.get('content-length');
  if (length === '0' || (length === null && !headers.has('transfer-encoding'))) return NO_BODY;
  if (length !== null && type === null) return unsupported(rules);
  // Bun lets `5, 5` through, a length sent twice.
  if (length !== null && !/^\d+$/.test(length)) return TWO_LENGTHS;
  if (Number(length) > rules.limit) return tooLarge(rules);
  const content = await arrived(request, rules, length, bodyMs, place);
  if (content instanceof Failure) return content;
  if (content.byteLength === 0) return NO_BODY;
  if (type === null) return unsupported(rules);
  return rules.mediaTypes.includes(JSON_TYPE) ? readJson(content) : content;
}

async function arrived(
  request: Request,
  rules: BodyRules,
  length: string | null,
  bodyMs: number,
  place: BodyReservation,
): Promise<Uint8Array | Failure> {
  try {
    if (length !== null && !place.hold(Number(length))) return NO_ROOM;
    const arriving = length === null ? readCounting(request, rules, place) : request.bytes();
    return await within(bodyMs, arriving).catch(() => INCOMPLETE);
  } finally {
    place.leave();
  }
}

/** For chunked bodies, which announce no length: counts, and stops at the limit. */
async function readCounting(
  request: Request,
  rules: BodyRules,
  place: BodyReservation,
): Promise<Uint8Array | Failure> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > rules.limit) return tooLarge(rules);
    if (!place.hold(length)) return NO_ROOM;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function readJson(content: Uint8Array): unknown {
  if (hasTooManyValues(content)) return TOO_MANY_VALUES;
  const json = parseJson(content);
  if (!json) return MALFORMED;
  const unstorable = findUnstorable(json.value, json.text, '/body');
  return unstorable ? invalid([unstorable]) : json.value;
}

const ENCODED = new Failure(
  'UNSUPPORTED_MEDIA_TYPE',
  'Encoded bodies are not taken; send it without Content-Encoding.',
);
const TWO_LENGTHS = new Failure('BAD_REQUEST', 'Send one Content-Length.');
const NO_ROOM = new Failure('SERVICE_UNAVAILABLE', 'Too many large bodies are arriving at once.', {
  suggestion: 'Send fewer large requests in parallel, or try again in a moment.',
  retryAfterSeconds: 1,
});
const INCOMPLETE = new Failure('BAD_REQUEST', 'The body broke off, or did not arrive in time.');
const TOO_MANY_VALUES = invalid([
  {
    path: '/body',
    message: `Send at most ${MOST_VALUES.toLocaleString('en')} values, members and items counted together.`,
  },
]);
const MALFORMED = new Failure('BAD_REQUEST', 'The body is not well-formed JSON in UTF-8.');

const unsupported = ({ mediaTypes }: BodyRules) =>
  new Failure('UNSUPPORTED_MEDIA_TYPE', `Send the body with Content-Type ${mediaTypes.join(' or ')}.`);

const tooLarge = ({ limit }: BodyRules) =>
  new Failure(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than the ${limit.toLocaleString('en')} bytes that this endpoint takes.`,
  );
