import { type Address, addressParser, type Email } from 'postal-mime';
import { storableText } from '../../platform/db/storable.ts';
import { seenName } from '../../platform/text/characters.ts';
import type { NamedMailbox } from '../raw/raw-mail.ts';

/** Mailboxes of one field that are shown. */
const MOST_MAILBOXES = 100;
const LONGEST_NAME = 256;
/** RFC 5321 4.5.3.1.3; a message may say anything. */
const LONGEST_ADDRESS = 320;

/** The first author who has an address. The parser keeps the first one alone, with an address or without. */
export const senderOf = ({ headers }: Pick<Email, 'headers'>): NamedMailbox | null => {
  const field = headers.find(({ key }) => key === 'from');
  return mailboxes(addressParser(field?.value ?? ''))[0] ?? null;
};

/** The mailboxes of a field as they are shown, the first of more. */
export const mailboxes = (addresses: readonly Address[]): readonly NamedMailbox[] =>
  withWholeNames(addresses)
    .slice(0, MOST_MAILBOXES)
    .map(({ name, address }) => ({
      name: seenName(name).slice(0, LONGEST_NAME).toWellFormed() || null,
      // A program that writes one bracket too many, as in `ada@example.com>`, means the same mailbox.
      address: storableText(bareAddress(seenName(address).replace(/^<|>$/g, '')), LONGEST_ADDRESS),
    }));

/** Characters of an address with its comments that are read. */
const LONGEST_WRITTEN = 1_000;

/**
 * The address without comments, and without white space beside its dots and its at sign (RFC 5322 3.2.2,
 * 4.4): it says nothing there. What holds several at signs is no address, and is shown as it is.
 */
function bareAddress(written: string): string {
  const bare = written
    .slice(0, LONGEST_WRITTEN)
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\s*([.@])\s*/g, '$1')
    .trim();
  return bare.indexOf('@') === bare.lastIndexOf('@') ? bare : written;
}

/**
 * The mailboxes among them. Programs write names with commas and no quotation marks, such as `Doe, Jane
 * <jane@example.com>`, which the parser takes for a mailbox without an address and another one.
 */
function withWholeNames(addresses: readonly Address[]): readonly { name: string; address: string }[] {
  const found: { name: string; address: string }[] = [];
  let begun: string[] = [];
  for (const one of addresses) {
    // A group has a name that is no mailbox's.
    if (one.group !== undefined) begun = [];
    for (const { name, address } of one.group ?? [one]) {
      if (!address) {
        if (name !== '' && begun.length < MOST_MAILBOXES) begun.push(name);
        continue;
      }
      found.push({ name: name === '' ? '' : [...begun, name].join(', '), address });
      begun = [];
    }
  }
  return found;
}
