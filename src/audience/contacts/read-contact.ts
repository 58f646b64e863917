import { stronger } from '../../mail/list-files/consent-words.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { mintId } from '../../platform/db/ids.ts';
import type { Detail } from '../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../platform/text/address.ts';
import { CONTACT_FIELD_NAMES } from '../../platform/text/contact-fields.ts';
import { forgottenKey } from '../../sending/suppressions/queries.ts';
import { fieldInput, setFields } from './field-columns.ts';
import type { NewContact } from './model.ts';
import { readProperties } from './properties.ts';
import type { ContactInput } from './write.ts';

/** True when a value is a list of mistakes. */
export const isMistaken = <Value extends object>(
  value: Value | readonly Detail[],
): value is readonly Detail[] => Array.isArray(value);

/** The workspace and the time of reading contacts. */
export interface ContactReading {
  readonly signer: Signer;
  readonly workspaceId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A contact's place in a list of them, and the pointer of its members. */
export interface ContactPlace {
  readonly ord: number;
  /** `/body`, `/body/contacts/3` */
  readonly at: string;
}

/** Reads one contact; answers all its mistakes, or the row that a statement takes. */
export function readContact(
  { email, properties, status, ...texts }: NewContact,
  { signer, workspaceId, now }: ContactReading,
  { ord, at }: ContactPlace,
): ContactInput | readonly Detail[] {
  const address = bareAddress(email, `${at}/email`);
  const changes = readProperties(properties, `${at}/properties`);
  if (isMistaken(address) || isMistaken(changes))
    return [...(isMistaken(address) ? address : []), ...(isMistaken(changes) ? changes : [])];
  return {
    ord,
    id: mintId('con', now),
    email: address.address,
    email_key: address.key,
    email_hash: forgottenKey(signer, workspaceId, address.key),
    ...fieldInput(texts),
    properties: changes.set,
    removed: changes.removed,
    leaves: status === 'unsubscribed' ? 'unsubscribed' : null,
    left_at: null,
    begins_out: false,
    consent: null,
  };
}

function bareAddress(text: string, path: string): Address | readonly Detail[] {
  const read = parseAddress(text);
  if (isProblem(read)) return [{ path, message: read.problem }];
  return read.name === null
    ? read
    : [{ path, message: `Send the address alone; the name goes into ${CONTACT_FIELD_NAMES.join(' and ')}.` }];
}

/**
 * The first of two contacts with the same address, with what the second says merged into it: one statement
 * takes an address once.
 */
export const mergedInto = (first: ContactInput, second: ContactInput): ContactInput => ({
  ...first,
  ...namesOf(first, second),
  properties: Object.fromEntries(
    Object.entries({ ...first.properties, ...second.properties }).filter(
      ([key]) => !second.removed.includes(key),
    ),
  ),
  removed: [...first.removed.filter((key) => !Object.hasOwn(second.properties, key)), ...second.removed],
  ...leavingOf(first, second),
  // The first one creates the contact; the second one then meets an existing contact.
  begins_out: first.begins_out,
  consent: second.consent ?? first.consent,
});

/** The names that the second sets. What stands before an address gives way to every stated name. */
function namesOf(first: ContactInput, second: ContactInput): Partial<ContactInput> {
  const set = setFields(second);
  const isSilent = Object.keys(set).length === 0;
  if (isSilent || (second.fills_name && Object.keys(setFields(first)).length > 0)) return {};
  return { ...(first.fills_name && fieldInput({})), ...set, fills_name: second.fills_name ?? false };
}

/** The later of two moments in ISO 8601. */
export const later = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && other > one) ? other : one;

type Departure = Pick<ContactInput, 'leaves' | 'left_at' | 'has_unsubscribed'>;

/** The leaving that two contacts with the same address tell of: the stronger counts, and the last moment. */
export const leavingOf = (first: Departure, second: Departure): Departure => ({
  leaves: stronger(first.leaves, second.leaves),
  left_at: later(first.left_at, second.left_at),
  ...((first.has_unsubscribed || second.has_unsubscribed) && { has_unsubscribed: true }),
});
