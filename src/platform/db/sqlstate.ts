import { type EffectCertainty, UnavailableError } from '../errors/unavailable.ts';

/** The errors of a connection that broke, of postgres.js and of its socket. The statement may have run. */
const CONNECTION_LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
/** The form of all other errors of sockets (ENETDOWN, ERR_TLS_…); no SQLSTATE has it. */
const SOCKET_ERROR = /^(E[A-Z]{4,}|ERR_[A-Z_]+)$/;
/** The errors of a statement that never reached the server. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
  // The server is starting up, or shutting down.
  '57P03',
]);

/**
 * The words of OpenSSL for a certificate that is not trusted, expired, or of another host. None of them is a
 * SQLSTATE. The connection ended before a statement could be sent.
 */
const CERTIFICATE =
  /^(CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|[A-Z_]*ALTNAME[A-Z_]*|HOSTNAME_MISMATCH)$/;
/**
 * A server that has TLS switched off answers the wish for it with one letter, and ends the connection at the
 * handshake.
 */
const NO_TLS = /before secure TLS connection was established/;

/** The SQLSTATE query_canceled: the statement timeout of the server. */
export const TOOK_TOO_LONG = '57014';

/**
 * The errors of a Citus coordinator where a node refused a row that it was sent: it gives such an error no
 * separate code.
 */
const REFUSED_BY_NODE = [
  [/^duplicate key value violates unique constraint "/, '23505'],
  [/^new row for relation "[^"]+" violates partition constraint/, '23514'],
] as const;

/** Returns the five-character SQLSTATE of an error, or the driver's own code; empty when it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (own === 'XX000' && 'message' in error) {
    const message = String(error.message);
    return REFUSED_BY_NODE.find(([says]) => says.test(message))?.[1] ?? own;
  }
  // Drizzle wraps the driver's error.
  return own || ('cause' in error ? codeOf(error.cause) : '');
}

/**
 * Returns the constraint, or unique index, that the statement violated; empty when it violated none. The
 * drivers name the field differently. A refusal by a node comes through a coordinator of Citus without that
 * field: then the message alone has the name.
 */
function constraintOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  for (const field of ['constraint_name', 'constraint'])
    if (field in error) return String((error as Readonly<Record<string, unknown>>)[field] ?? '');
  if ('cause' in error) return constraintOf(error.cause);
  // Other errors name other things: of a row that a partition overtook it is the table, and there is no
  // constraint.
  if (codeOf(error) !== '23505' || !('message' in error)) return '';
  return NAMED.exec(String(error.message))?.[1] ?? '';
}

/** The only name in quotes of the message of a duplicate, in every language of PostgreSQL. */
const NAMED = /["«„“]\s?([a-z_0-9]+)\s?["»“”]/;

/** The suffix that Citus adds to the name of a constraint on the shard of a distributed table. */
const SHARD_SUFFIX = /^(_[0-9]+)?$/;

/**
 * True when the statement violated this constraint or unique index, on a shard too, or any when none is
 * named.
 */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== '23505') return false;
  if (constraint === undefined) return true;
  const violated = constraintOf(error);
  return violated.startsWith(constraint) && SHARD_SUFFIX.test(violated.slice(constraint.length));
}

/** True when the statement violated the key of the table, or of a partition of it. */
export function isDuplicateIn(error: unknown, table: string): boolean {
  return codeOf(error) === '23505' && constraintOf(error).startsWith(`${table}_`);
}

/** True for a deadlock: PostgreSQL has chosen this statement as the one of the circle that it rolls back. */
export const isDeadlocked = (error: unknown): boolean => codeOf(error) === '40P01';

/** True for a serialization failure or a deadlock: the statement was rolled back and may run again. */
export const isRetriable = (error: unknown): boolean =>
  codeOf(error) === '40001' || isDeadlocked(error) || isOvertakenByPartition(error);

/**
 * The row was meant for the default partition, and its day got a partition while the statement waited for the
 * lock. PostgreSQL names no constraint then, as it does where a check is violated. A machine that was
 * suspended for days makes partitions beside its mail.
 */
const isOvertakenByPartition = (error: unknown): boolean =>
  codeOf(error) === '23514' && constraintOf(error) === '';

/**
 * True when the statement can never succeed: bad data (22), a constraint (23), a program limit (54), a bug
 * (42).
 */
export function isPoison(error: unknown): boolean {
  return /^(22|23|42|54|0A|21)/.test(codeOf(error));
}

/** The message of PostgreSQL itself. */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return codeOf(error);
  // Drizzle's own message is the statement with its parameters; only the cause says what happened.
  const { message } = error.cause instanceof Error ? error.cause : error;
  const code = codeOf(error);
  return message.includes(code) ? message : `${message}, ${code}`;
};

const isFatal = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  return 'severity' in error ? error.severity === 'FATAL' : 'cause' in error && isFatal(error.cause);
};

/**
 * PgBouncer: protocol_violation, "unsupported startup parameter: …". A server itself says 42704 to a setting
 * that it does not know.
 */
export const isRefusedSetting = (error: unknown): boolean =>
  codeOf(error) === '08P01' && messageOf(error).includes('startup parameter');

/** PgBouncer says protocol_violation to a wrong password too. */
const WRONG_PASSWORD = /authentication failed/;

/** The sentences for databases that refuse valid statements. Nothing was applied in any of these states. */
const REFUSALS: readonly (readonly [code: RegExp, says: string])[] = [
  [/^53100/, 'has no room left on its disk'],
  [/^53200/, 'is short of memory'],
  [/^53300/, 'takes no more connections'],
  [/^53/, 'has no resources left'],
  [/^55P03/, 'did not give a lock in time: another session holds it'],
  [/^57014/, 'ended a statement that took longer than statement_timeout'],
  [/^25006/, 'is read-only: a standby, or one that was set so. Name the primary in DATABASE_URL'],
  [/^58/, 'reports an error of its machine'],
];

/**
 * Turns a driver error into UnavailableError where the database is at fault and not the statement: no
 * connection, a refused one (28, 3D, 55000 and anything fatal), or SQLSTATE classes 08, 53, 57, 58, 25006 and
 * 55P03.
 * @param database its name in a sentence, without the password
 */
export function classify(error: unknown, database = 'The database'): unknown {
  if (error instanceof UnavailableError) return error;
  const code = codeOf(error);
  const unavailable = (says: string, applied: EffectCertainty): UnavailableError =>
    new UnavailableError(`${database} ${says} (${messageOf(error)}).`, applied, 1, { cause: error });
  if (CERTIFICATE.test(code))
    return unavailable(
      'has a certificate that is not trusted: name its authority by sslrootcert in the URL',
      'no',
    );
  if (NO_TLS.test(messageOf(error)))
    return unavailable('offers no TLS, which the URL requires by sslmode', 'no');
  if (NEVER_CONNECTED.has(code)) return unavailable('cannot be reached', 'no');
  if (CONNECTION_LOST.has(code) || SOCKET_ERROR.test(code))
    return unavailable('was lost in the middle of a statement', 'unknown');
  if (/^57P/.test(code)) return unavailable('is shutting down', 'unknown');
  const refusal = REFUSALS.find(([pattern]) => pattern.test(code));
  if (refusal) return unavailable(refusal[1], 'no');
  if (code === '08P01' && WRONG_PASSWORD.test(messageOf(error)))
    return unavailable('refuses the connection', 'no');
  if (/^(28|3D)/.test(code) || isFatal(error))
    return unavailable('refuses the connection', /^(28|3D|55000|42501)/.test(code) ? 'no' : 'unknown');
  if (isRefusedSetting(error))
    return unavailable(
      'is behind a pooler that refuses settings: name the server itself in DATABASE_URL, or add them to ignore_startup_parameters',
      'no',
    );
  if (/^08/.test(code)) return unavailable('does not speak as expected', 'unknown');
  return error;
}
