import { isWithheldField } from '../message/reserved-fields.ts';
import { divideMessage, joinFields, joinMessage } from './header-editor.ts';

const LINE_END = Buffer.from('\r\n');

/** The line of an mbox (RFC 4155), which git format-patch writes too. */
const MBOX_LINE = /^>*From /;
const FOLD = /^[ \t]/;
/** The fields by which a message is shown and answered, and by which a reader leaves a list. */
const NEEDED: ReadonlySet<string> = new Set([
  'from',
  'to',
  'cc',
  'subject',
  'reply-to',
  'in-reply-to',
  'list-unsubscribe',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
]);

/**
 * The message without the line of an mbox before its author and a fold before its first field, and with an
 * empty line before a text that its header runs into: scripts forget it. Postfix, Sendmail and Exim take
 * these for the end of the header, so that fields and signatures of this service would be lost on them. A
 * header goes on where a field follows that it needs and did not have yet, or one that may not leave: Bcc in
 * a text would be read by all recipients.
 */
export function withHeaderApart(message: Buffer): Buffer {
  const { fields, rest } = divideMessage(message);
  if (fields.every(({ name }) => name !== '')) return message;
  const author = fields.findIndex(({ name }) => name === 'from');
  const own = fields.filter(
    ({ octets }, at) => !(at === 0 && FOLD.test(octets)) && !(at < author && MBOX_LINE.test(octets)),
  );
  const end = own.findIndex(({ name }) => name === '');
  const before = own.slice(0, end === -1 ? own.length : end);
  const behind = own.slice(before.length);
  const had = new Set(before.map(({ name }) => name));
  const goesOn = behind.some(({ name }) => (NEEDED.has(name) && !had.has(name)) || isWithheldField(name));
  if (behind.length === 0 || goesOn) return joinMessage({ fields: own, rest });
  return Buffer.concat([joinFields(before), LINE_END, joinFields(behind), rest]);
}
