import type { ImapProblem } from '../../mail/imap/imap-problem.ts';

type Reason = ImapProblem | 'message' | 'sealed' | 'unproven' | 'internal';

/** Every reason why a mailbox is not read, in words that say what to do. */
export const REASONS: Readonly<Record<Reason, string>> = {
  forbidden_address:
    'The server has a private, reserved or metadata address, which is refused. An operator can open private networks with WEBHOOK_ALLOW_CIDRS.',
  unresolved_host: 'DNS has no address for the server. Check its name.',
  unreachable: 'The server refuses connections. Check its name and port.',
  timeout: 'The server did not answer in time. Check its port, or wait until it is less busy.',
  tls: 'No encrypted connection: the certificate does not fit the name of the server, is not trusted or has expired, or the port needs the other kind of encryption.',
  login:
    'The server refuses the user or the password. Where the account has a second factor, it needs a password for applications.',
  folder: 'The folder cannot be opened. Check its name: servers write it as `INBOX/Name` or `INBOX.Name`.',
  protocol: 'The server answers what no IMAP server should. Check its name and port.',
  closed: 'The server has closed the connection.',
  message:
    'The server does not give out the message that comes next: it refuses, or closes the connection. Look into its log. After ten failures the message is left out if one behind it comes.',
  sealed: 'The password was sealed with a replaced SECRET_KEY. Enter it again.',
  unproven:
    'The message that comes next is for a domain that is not verified. Verify the domain, or delete its inbound routes.',
  internal: 'The message that comes next cannot be stored now. It is tried again.',
};

/** The reason that a row names; one of a later version stays as it is. */
export const reasonText = (problem: string): string =>
  Object.hasOwn(REASONS, problem) ? REASONS[problem as keyof typeof REASONS] : problem;
