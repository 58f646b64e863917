import type { SigningKey } from '../dkim/signing-key.ts';
import { isCommandField } from '../message/reserved-fields.ts';
import { divideMessage, fieldOf, joinMessage, type RawField, valueOfField } from '../raw/header-editor.ts';
import { traceOf } from '../raw/leaving.ts';
import { type Arrival, FORWARDED_FIELD, type ForwardFacts } from '../raw/raw-mail.ts';
import { arcSet } from './arc-seal.ts';

/** The values of a copy. */
interface ForwardedCopy {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly came: Arrival | null;
  readonly keys: readonly SigningKey[];
}

/**
 * A message as it is forwarded: its octets as they came, so that signatures of its author hold, under fields
 * that say where it was: the trace (RFC 5321 4.4), the token against loops, and the seal (RFC 8617). Only
 * fields that give orders to servers are left out, and results of checks in the name of this one, which the
 * next server might trust (RFC 8601 5).
 */
export function forwardedMessage(
  octets: Buffer,
  { token, seal }: ForwardFacts,
  { id, acceptedAt, came, keys }: ForwardedCopy,
): Buffer {
  const kept = withoutOrders(octets, came?.by ?? null);
  const trace = traceOf({ id, acceptedAt, came });
  const fields = [...trace, fieldOf(FORWARDED_FIELD, token)].map(({ octets: one }) => one).join('');
  const arc = seal ? arcSet(kept, keys, { ...seal, at: acceptedAt }) : Buffer.alloc(0);
  return Buffer.concat([Buffer.from(fields, 'latin1'), arc, kept]);
}

const TOKENS = FORWARDED_FIELD.toLowerCase();

/** A stranger must not give the operator's relay orders, such as further recipients, nor this service. */
const isOrder = ({ name }: RawField): boolean =>
  isCommandField(name) || (name.startsWith('x-svc-') && name !== TOKENS);

/** A host has 255 octets at most, which may each be quoted. */
const LONGEST_QUOTED_NAME = 2 * 255 + 2;

/**
 * The name of the server that states the results of a field Authentication-Results (RFC 8601 2.2), in lower
 * case.
 */
function namedServer(field: RawField): string {
  const value = valueOfField(field);
  let at = 0;
  for (let depth = 0; at < value.length; at++) {
    const letter = value[at];
    if (letter === '\\' && depth > 0) at++;
    else if (letter === '(') depth++;
    else if (letter === ')' && depth > 0) depth--;
    else if (depth === 0 && letter !== ' ' && letter !== '\t') break;
  }
  const name = value.slice(at, at + LONGEST_QUOTED_NAME);
  const [, quoted, plain = ''] = /^(?:"((?:[^"\\]|\\.)*)"|([^\s;("]*))/.exec(name) ?? [];
  return (quoted?.replace(/\\(.)/g, '$1') ?? plain).toLowerCase().replace(/\.$/, '');
}

/** True for results that a stranger states in the name of this server. */
const isForgedResult = (field: RawField, server: string): boolean =>
  field.name === 'authentication-results' && namedServer(field) === server.toLowerCase();

/** The same octets where nothing is left out, which saves a copy. */
function withoutOrders(octets: Buffer, server: string | null): Buffer {
  const { fields, rest } = divideMessage(octets);
  // Lines that continue no field would continue the last one that is added, and change the token or a
  // signature.
  const [first] = fields;
  const known = first && /^[ \t]/.test(first.octets) ? fields.slice(1) : fields;
  const kept = known.filter(
    (field) => !isOrder(field) && (server === null || !isForgedResult(field, server)),
  );
  return kept.length === fields.length ? octets : joinMessage({ fields: kept, rest });
}
