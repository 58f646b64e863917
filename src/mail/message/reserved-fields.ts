/** Fields that the service writes, or that servers on the way write. In lower case. */
const FIELDS: ReadonlySet<string> = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'subject',
  'date',
  'message-id',
  'return-path',
  'received',
  'received-spf',
  'authentication-results',
]);

/** Families of such fields, by what their names begin with. */
const FAMILIES = ['mime', 'content', 'dkim', 'arc', 'resent', 'x-svc'] as const;

/**
 * Families of fields that are commands to a relay. A client could use them to change settings of the
 * operator's account there, and to add recipients that nothing here has checked.
 */
const COMMANDS = [
  'x-ses', // Amazon SES
  'x-smtpapi', // SendGrid
  'x-mc', // Mandrill
  'x-mailgun',
  'x-msys', // SparkPost
  'x-pm', // Postmark
  'x-postmark',
  'x-mj', // Mailjet
  'x-mailjet',
  'x-mailin', // Brevo
  'x-sib', // Brevo
  'x-mt', // Mailtrap
] as const;

const OF_A_FAMILY = new RegExp(`^(?:${[...FAMILIES, ...COMMANDS].join('|')})(?:-|$)`);

const COMMAND = new RegExp(`^(?:${COMMANDS.join('|')})(?:-|$)`);

/** True of a field that is a command to a relay; `name` is in lower case. */
export const isCommandField = (name: string): boolean => COMMAND.test(name);

/** Fields that no server may pass on, and orders of a client to this service. */
const WITHHELD: ReadonlySet<string> = new Set(['bcc', 'resent-bcc', 'return-path', 'idempotency-key']);

/** True of a field of a message that never leaves: orders to a relay too. `name` is in lower case. */
export const isWithheldField = (name: string): boolean =>
  WITHHELD.has(name) || name.startsWith('x-svc-') || isCommandField(name);

/** True when a client must not set a header field; `name` is in lower case. */
export const isReservedField = (name: string): boolean => FIELDS.has(name) || OF_A_FAMILY.test(name);
