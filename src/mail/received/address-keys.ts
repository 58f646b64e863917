import { storableText } from '../../platform/db/storable.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { type RawField, valueOfField } from '../raw/header-editor.ts';

/** The fields that name people by their addresses (RFC 5322 3.6, RFC 8098 2.1, and those that servers on the way add). */
const OF_ADDRESSES = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['resent-from', 'resent-sender', 'resent-reply-to', 'resent-to', 'resent-cc', 'resent-bcc'],
  ...['return-path', 'delivered-to', 'x-original-to', 'envelope-to', 'errors-to'],
  ...['disposition-notification-to', 'return-receipt-to', 'mail-followup-to', 'mail-reply-to'],
]);

/** The characters around an address in such a field. */
const AROUND = /[\s<>(),:;[\]"]+/;

/** The most characters of an address that are kept (RFC 5321 4.5.3.1.3 allows 256 octets). */
export const LONGEST_PATH = 320;

/** The form by which an address is compared; one that is none is compared as it is. */
export function addressKeyOf(address: string): string {
  const storable = storableText(address, LONGEST_PATH);
  const read = parseAddress(storable);
  return isProblem(read) ? storable.toLowerCase() : read.key;
}

/**
 * Every address in the header of a message, in the form in which addresses are compared. The octets are searched, not parsed: a person is
 * found by the address in a message that no parser can read. All are kept, since the header bounds them.
 */
export function headerAddressKeys(fields: readonly RawField[]): readonly string[] {
  const addresses = new Set<string>();
  for (const field of fields) {
    if (!OF_ADDRESSES.has(field.name)) continue;
    for (const word of Buffer.from(valueOfField(field), 'latin1').toString().split(AROUND))
      if (word.indexOf('@') > 0) addresses.add(word);
  }
  return [...new Set([...addresses].map(addressKeyOf))];
}
