import { stronger } from '../../mail/list-files/consent-words.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { mintId } from '../../platform/db/ids.ts';
import type { Detail } from '../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../platform/text/address.ts';
import { seenName } from '../../platform/text/characters.ts';
import { forgottenKey } from '../../sending/suppressions/queries.ts';
import type { NewContact } from './model.ts';
import { readProperties } from './properties.ts';
import type { ContactInput } from './write.ts';

/** The form that names are searched by. It has to be the same for what is stored and for what is looked for. */
export const searchKey = (text: string): string => text.normalize('NFC').toLowerCase();

/** True when a value is a list of mistakes. */
export const isMistaken = <Value extends object>(
  value: Value | readonly Detail[],
): value is readonly Detail[] => Array.isArray(value);

/** Who reads contacts: in which workspace, and when. */
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
  { email, firstName, lastName, properties, status }: NewContact,
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
    ...namesOf({ firstName, lastName }),
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
    : [{ path, message: 'Send the address alone; the name goes into firstName and lastName.' }];
}

interface Names {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
}

/** A name as it is kept, however it comes here: it may stand in a header. An empty one is none. */
export const nameOf = (text: string | null | undefined): string | null => seenName(text ?? '') || null;

/** The columns of the names. */
export function namesOf({ firstName, lastName }: Names) {
  const [first, last] = [nameOf(firstName), nameOf(lastName)];
  return {
    sets_first_name: firstName !== undefined,
    first_name: first,
    first_name_key: first === null ? null : searchKey(first),
    sets_last_name: lastName !== undefined,
    last_name: last,
    last_name_key: last === null ? null : searchKey(last),
  };
}

/**
 * The first of two contacts with the same address, with what the second says merged into it: one statement takes an address once.
 */
export const mergedInto = (first: ContactInput, second: ContactInput): ContactInput => ({
  ...first,
  ...(second.sets_first_name && {
    sets_first_name: true,
    first_name: second.first_name,
    first_name_key: second.first_name_key,
  }),
  ...(second.sets_last_name && {
    sets_last_name: true,
    last_name: second.last_name,
    last_name_key: second.last_name_key,
  }),
  properties: Object.fromEntries(
    Object.entries({ ...first.properties, ...second.properties }).filter(
      ([key]) => !second.removed.includes(key),
    ),
  ),
  removed: [...first.removed.filter((key) => !Object.hasOwn(second.properties, key)), ...second.removed],
  ...leavingOf(first, second),
  // What the first says is written when it is new; the second then meets a contact that is there.
  begins_out: first.begins_out,
  consent: second.consent ?? first.consent,
});

/** The leaving that two contacts with the same address tell of: the stronger counts. */
export const leavingOf = (
  first: Pick<ContactInput, 'leaves' | 'left_at'>,
  second: Pick<ContactInput, 'leaves' | 'left_at'>,
): Pick<ContactInput, 'leaves' | 'left_at'> => ({
  leaves: stronger(first.leaves, second.leaves),
  left_at: first.leaves ? first.left_at : second.left_at,
});
