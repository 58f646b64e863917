/** The reasons why a mailbox cannot be read. */
export const IMAP_PROBLEMS = [
  'forbidden_address',
  'unresolved_host',
  'unreachable',
  'timeout',
  'tls',
  'login',
  'folder',
  'protocol',
  'closed',
] as const;
export type ImapProblem = (typeof IMAP_PROBLEMS)[number];

/**
 * A mailbox that cannot be read, with the reason. It holds no word of the server: one may repeat what it was
 * told.
 */
export class MailboxUnreadable extends Error {
  override readonly name = 'MailboxUnreadable';

  constructor(readonly problem: ImapProblem) {
    super(problem);
  }
}

/** The members of the library's errors, and of the runtime's, by which they differ. */
interface ErrorTraits {
  readonly code?: unknown;
  readonly authenticationFailed?: unknown;
  readonly tlsFailed?: unknown;
  /** `NO` or `BAD` of a command that the server refuses. */
  readonly responseStatus?: unknown;
}

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ConnectionRefused',
  'FailedToOpenSocket',
]);
const TIMEOUTS: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'ETIMEOUT',
  'CONNECT_TIMEOUT',
  'GREETING_TIMEOUT',
  'GREEETING_TIMEOUT',
  'UPGRADE_TIMEOUT',
]);
const LIMITS: ReadonlySet<unknown> = new Set([
  'LineTooLarge',
  'LiteralTooLarge',
  'ResponseTooLarge',
  'TooManyTokens',
]);
const REFUSED: ReadonlySet<unknown> = new Set(['NO', 'BAD']);
const OF_TLS = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_|ERR_TLS|EPROTO|HOSTNAME_MISMATCH/;

/** The reason in an error. */
export function problemOf(error: unknown): ImapProblem {
  if (error instanceof MailboxUnreadable) return error.problem;
  const { code, authenticationFailed, tlsFailed, responseStatus } = (error ?? {}) as ErrorTraits;
  if (authenticationFailed === true) return 'login';
  if (tlsFailed === true || (typeof code === 'string' && OF_TLS.test(code))) return 'tls';
  if (UNREACHABLE.has(code)) return 'unreachable';
  if (TIMEOUTS.has(code)) return 'timeout';
  return LIMITS.has(code) || REFUSED.has(responseStatus) ? 'protocol' : 'closed';
}
