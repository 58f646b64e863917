import { Unavailable } from './unavailable.ts';

/** Connection errors of postgres.js and of the socket below it: nobody can say whether the statement ran. */
const CONNECTION_LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);
/** Whatever else happens to a socket (ENETDOWN, ERR_TLS_…): no SQLSTATE begins like this. */
const SOCKET_ERROR = /^(E[A-Z]{4,}|ERR_[A-Z_]+)$/;
/** Never reached the server. */
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

/** query_canceled: the server's statement timeout. */
export const TOOK_TOO_LONG = '57014';

/** The five-character SQLSTATE, or the driver's own code, of an error; empty when it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // Drizzle wraps the driver's error.
  return own || ('cause' in error ? codeOf(error.cause) : '');
}

/**
 * The constraint, or unique index, that the statement violated; empty when it violated none. postgres.js names the field as
 * its own style has it, PGlite as node-postgres does.
 */
function constraintOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  for (const field of ['constraint_name', 'constraint'])
    if (field in error) return String((error as Readonly<Record<string, unknown>>)[field]);
  return 'cause' in error ? constraintOf(error.cause) : '';
}

/** Whether the statement was refused since there is such a row already: of this constraint or unique index, or of any. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  return codeOf(error) === '23505' && (constraint === undefined || constraintOf(error) === constraint);
}

/** Serialization failure and deadlock: the statement was rolled back and may simply run again. */
export function isRetriable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/** The statement can never succeed as it stands: bad data (22), a constraint (23), a program limit (54), a bug (42). */
export function isPoison(error: unknown): boolean {
  return /^(22|23|42|54|0A|21)/.test(codeOf(error));
}

/**
 * Turns a driver error into Unavailable where the fault is the database's state rather than the statement's:
 * SQLSTATE classes 08 (connection), 53 (resources), 57 (operator intervention, statement timeout), 58 (system).
 */
export function classify(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  const code = codeOf(error);
  if (NEVER_CONNECTED.has(code))
    return new Unavailable('The database cannot be reached.', 'no', 1, { cause: error });
  if (CONNECTION_LOST.has(code) || SOCKET_ERROR.test(code))
    return new Unavailable('The database connection was lost.', 'unknown', 1, { cause: error });
  if (/^(08|57P)/.test(code))
    return new Unavailable('The database is going away.', 'unknown', 1, { cause: error });
  if (/^(53|57|58|25006)/.test(code))
    return new Unavailable('The database has no resources left.', 'no', 1, { cause: error });
  return error;
}
