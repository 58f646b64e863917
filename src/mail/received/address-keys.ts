import { storableText } from '../../platform/db/storable.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { mailboxKey } from '../../platform/text/local-part.ts';
import { type RawField, valueOfField } from '../raw/header-editor.ts';

/**
 * The fields by which a server names the address that it has delivered a message for: Postfix, qmail, Courier
 * and Gmail; Exim; Cyrus and Fastmail; CommuniGate; Yahoo; and Oracle's server (RFC 8098 2.3), whose value
 * begins with `rfc822;`.
 */
export const DELIVERED_FIELDS = [
  'delivered-to',
  'x-original-to',
  'envelope-to',
  'x-envelope-to',
  'x-delivered-to',
  'x-resolved-to',
  'x-real-to',
  'x-apparently-to',
  'x-rcpt-to',
  'original-recipient',
] as const;

/**
 * The fields that name people by their addresses (RFC 5322 3.6, RFC 8098 2.1, and those that servers on the
 * way add).
 */
const OF_ADDRESSES = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'resent-from',
  'resent-sender',
  'resent-reply-to',
  'resent-to',
  'resent-cc',
  'resent-bcc',
  'return-path',
  'errors-to',
  ...DELIVERED_FIELDS,
  'disposition-notification-to',
  'return-receipt-to',
  'mail-followup-to',
  'mail-reply-to',
]);

/** The characters around an address in such a field. */
const AROUND = /[\s<>(),:;[\]"]+/;
/**
 * Those of ASCII that are a part of it within quotation marks, and the letters for private use that stand for
 * them meanwhile.
 */
const WITHIN_QUOTES = /[\t <>(),:;[\]"@]/;
const STAND_INS = /[\ue000-\ue07f]/g;
const FIRST_STAND_IN = 0xe000;

/** The most characters of an address that are kept (RFC 5321 4.5.3.1.3 allows 256 octets). */
export const LONGEST_PATH = 320;

/**
 * Different addresses in the header of a message that is taken: each is a row of an index. Gmail and Exchange
 * let a message have at most 2,000 and 1,000 recipients.
 */
export const MOST_ADDRESSES = 5_000;

/** The form by which an address is compared; one that is none is compared as it is. */
export function addressKeyOf(address: string): string {
  const storable = storableText(address, LONGEST_PATH);
  const read = parseAddress(storable);
  return isProblem(read) ? mailboxKey(storable) : read.key;
}

/**
 * The words of a field that look like addresses, as they are written, and without what RFC 5322 3.4.1 lets
 * stand inside an address.
 */
export const wordsOfAddresses = (field: RawField): readonly string[] => {
  const value = Buffer.from(valueOfField(field), 'latin1').toString();
  // Both: a quotation mark or a bracket without its end would hide all behind it.
  const [written, plain] = [value, withoutAdditions(value)].map((text) =>
    text.split(AROUND).filter((word) => word.indexOf('@') > 0),
  );
  return [...(written ?? []), ...(plain ?? []).map(withoutStandIns)];
};

const withoutStandIns = (word: string): string =>
  word.replace(STAND_INS, (letter) => String.fromCharCode(letter.charCodeAt(0) - FIRST_STAND_IN));

/**
 * The same value without comments, quotation marks, and white space around `@` and `.`: `"ada" (x) @
 * b.example` is `ada@b.example`. Where a quotation mark has no end, nothing is hidden by one.
 */
function withoutAdditions(value: string, hidesQuoted = true): string {
  if (!/["(]|\s[@.]|[@.]\s/.test(value)) return '';
  let kept = '';
  // Beside `kept`: a look at the end of a text that grows copies all of it.
  let last = '';
  let depth = 0;
  let isQuoted = false;
  let isApart = false;
  for (let at = 0; at < value.length; at++) {
    const letter = value[at] ?? '';
    const isEscape = letter === '\\' && (isQuoted || depth > 0);
    if (isEscape) at++;
    else if (letter === '"' && depth === 0) {
      isQuoted = !isQuoted;
      continue;
    } else if (!isQuoted && letter === '(') depth++;
    else if (!isQuoted && letter === ')' && depth > 0) {
      depth--;
      isApart = true;
      continue;
    }
    if (depth > 0) continue;
    const written = isEscape ? (value[at] ?? '') : letter;
    const isHidden = hidesQuoted && isQuoted && WITHIN_QUOTES.test(written);
    const taken = isHidden ? String.fromCharCode(FIRST_STAND_IN + written.charCodeAt(0)) : written;
    if (/\s/.test(taken)) {
      isApart = true;
      continue;
    }
    if (isApart && !JOINS.has(taken) && !JOINS.has(last)) kept += ' ';
    isApart = false;
    kept += taken;
    last = taken;
  }
  return isQuoted && hidesQuoted ? withoutAdditions(value, false) : kept;
}

const JOINS = new Set(['@', '.']);

/**
 * Every address in the header of a message, in the form in which addresses are compared. The octets are
 * searched, not parsed: a person is found by the address in a message that no parser can read. All are kept:
 * a message with more than `MOST_ADDRESSES` is refused.
 */
export function headerAddressKeys(fields: readonly RawField[]): readonly string[] {
  const addresses = new Set<string>();
  for (const field of fields) {
    if (!OF_ADDRESSES.has(field.name)) continue;
    for (const word of wordsOfAddresses(field)) addresses.add(word);
  }
  return [...new Set([...addresses].map(addressKeyOf))];
}
