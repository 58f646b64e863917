import { type BodyReservation, SMALL } from '../../platform/async/body-budget.ts';
import { within } from '../../platform/async/deadline.ts';
import { Failure, invalid, invalidAt } from '../../platform/errors/failure.ts';
import { findUnstorable, hasTooManyValues, MOST_VALUES, parseJson } from './json-text.ts';
import { ANY_TYPE, isMediaType, JSON_TYPE } from './media-type.ts';

/** The rules of an endpoint for its bodies. */
export interface BodyRules {
  /** Bytes. */
  readonly limit: number;
  readonly mediaTypes: readonly string[];
  /** True when the body is parsed; otherwise it is passed on as bytes. */
  readonly isJson: boolean;
  /** Changes the JSON and counts its values; null where they are too many. */
  readonly shortened?: ((json: Uint8Array) => Uint8Array | null) | undefined;
}

/** The result for a request without a body. An endpoint with required fields then reports them as missing. */
export const NO_BODY: unique symbol = Symbol('no body');

/**
 * Reads and parses the body of a request. It refuses in this order: media type, size, syntax. JSON is
 * returned as its value, any other type as bytes; the schema is checked later. A body with an announced
 * length is read in one go, which is fast, and the HTTP parser holds the client to that length. A small body
 * that has already arrived, as most have once the caller is known, needs no time limit and no room.
 */
export function readBody(
  request: Request,
  rules: BodyRules,
  bodyMs: number,
  reserve: () => BodyReservation,
): unknown | Promise<unknown> {
  const announced = announcedLength(request, rules);
  if (announced === NO_BODY || announced instanceof Failure) return announced;
  const read = (content: Uint8Array | Failure) => contentOf(request, rules, content);
  if (announced === null || Number(announced) > SMALL)
    return arrived(request, rules, announced, bodyMs, reserve()).then(read);
  const arriving = request.bytes();
  if (Bun.peek.status(arriving) === 'fulfilled') return read(Bun.peek(arriving) as Uint8Array);
  return within(bodyMs, arriving).then(read, () => INCOMPLETE);
}

function contentOf(request: Request, rules: BodyRules, content: Uint8Array | Failure): unknown {
  if (content instanceof Failure) return content;
  if (content.byteLength === 0) return NO_BODY;
  const type = request.headers.get('content-type');
  if (!takes(type, rules)) return unsupported(rules);
  // An endpoint may take another type beside JSON.
  return rules.isJson && isMediaType(type ?? '', [JSON_TYPE])
    ? readJson(content, rules.shortened ?? counted)
    : content;
}

/** True when an endpoint reads bodies of a type; null is a body without one. */
const takes = (type: string | null, { mediaTypes }: BodyRules): boolean =>
  mediaTypes.includes(ANY_TYPE) || (type !== null && isMediaType(type, mediaTypes));

/** The announced length of a request's body, null for a chunked one; or the reason for not reading it. */
export function announcedLength(
  { headers }: Request,
  rules: BodyRules,
): string | null | typeof NO_BODY | Failure {
  if (headers.has('content-encoding')) return ENCODED;
  const type = headers.get('content-type');
  if (type !== null && !takes(type, rules)) return unsupported(rules);
  const length = headers.get('content-length');
  if (length === '0' || (length === null && !headers.has('transfer-encoding'))) return NO_BODY;
  if (length !== null && !takes(type, rules)) return unsupported(rules);
  // Bun accepts `5, 5`, a length sent twice.
  if (length !== null && !/^\d+$/.test(length)) return TWO_LENGTHS;
  return Number(length) > rules.limit ? tooLarge(rules) : length;
}

async function arrived(
  request: Request,
  rules: BodyRules,
  length: string | null,
  bodyMs: number,
  reservation: BodyReservation,
): Promise<Uint8Array | Failure> {
  try {
    if (length !== null && !reservation.hold(Number(length))) return NO_ROOM;
    const arriving = length === null ? readCounting(request, rules, reservation) : request.bytes();
    return await within(bodyMs, arriving).catch(() => INCOMPLETE);
  } finally {
    reservation.release();
  }
}

/** Reads a chunked body, which announces no length, and stops at the limit. */
async function readCounting(
  request: Request,
  rules: BodyRules,
  reservation: BodyReservation,
): Promise<Uint8Array | Failure> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > rules.limit) return tooLarge(rules);
    if (!reservation.hold(length)) return NO_ROOM;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

const counted = (content: Uint8Array) => (hasTooManyValues(content) ? null : content);

function readJson(content: Uint8Array, count: NonNullable<BodyRules['shortened']>): unknown {
  const bounded = count(content);
  if (bounded === null) return TOO_MANY_VALUES;
  const json = parseJson(bounded);
  if (!json) return MALFORMED;
  const unstorable = findUnstorable(json.value, json.text, '/body');
  return unstorable ? invalid([unstorable]) : json.value;
}

const ENCODED = new Failure(
  'UNSUPPORTED_MEDIA_TYPE',
  'Encoded bodies are not accepted. Send the body without Content-Encoding.',
);
const TWO_LENGTHS = new Failure('BAD_REQUEST', 'Send one Content-Length.');
/** The refusal of a body without memory for it. */
export const NO_ROOM = new Failure('SERVICE_UNAVAILABLE', 'Too many large bodies are arriving at once.', {
  suggestion: 'Send fewer large requests in parallel, or try again in a moment.',
  retryAfterSeconds: 1,
});
/** The refusal of an incomplete body. */
export const INCOMPLETE = new Failure('BAD_REQUEST', 'The body is incomplete, or did not arrive in time.');
const TOO_MANY_VALUES = invalidAt(
  '/body',
  `Send at most ${MOST_VALUES.toLocaleString('en')} values, members and items counted together.`,
);
const MALFORMED = new Failure('BAD_REQUEST', 'The body is not well-formed JSON in UTF-8.');

/** The refusal of a body of another type. */
export const unsupported = ({ mediaTypes }: BodyRules) =>
  new Failure('UNSUPPORTED_MEDIA_TYPE', `Send the body with Content-Type ${mediaTypes.join(' or ')}.`);

/** The refusal of a body that is too large. */
export const tooLarge = ({ limit }: BodyRules) =>
  new Failure(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than the ${limit.toLocaleString('en')} bytes that this endpoint accepts.`,
  );
