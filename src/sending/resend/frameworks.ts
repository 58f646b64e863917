import { type Static, Type } from '@sinclair/typebox';
import { decodeWords } from 'postal-mime';

// The mailers of frameworks speak Resend's interface as well, and write some things in other forms than its
// package: Laravel's, Payload's, and Anymail for Django.

/** PHP writes a map without members as a list. */
const EmptyMap = Type.Array(Type.Never(), { maxItems: 0 });

/** A list is what Anymail writes for tags. */
const FieldValue = Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })]);

export const Fields = Type.Union([Type.Record(Type.String(), FieldValue), EmptyMap]);
export const Variables = Type.Union([Type.Record(Type.String(), Type.Unknown()), EmptyMap]);
export const Addresses = Type.Union([Type.String(), Type.Array(Type.String())]);

type Fields = Static<typeof Fields>;
type Addresses = Static<typeof Addresses>;

/** A map by its members, also where it has none. */
export const mapOf = <Value>(map: Readonly<Record<string, Value>> | readonly never[] | null | undefined) =>
  Array.isArray(map) ? {} : (map as Readonly<Record<string, Value>> | null | undefined);

/** An empty list and an empty text, as Payload writes it, mean no copies. */
export const orNone = (addresses: Addresses | null | undefined): Addresses | null =>
  addresses === undefined || addresses === null || addresses.length === 0 ? null : inLetters(addresses);

/** The same addresses with names as they are to be read. */
export const inLetters = (addresses: Addresses): Addresses =>
  Array.isArray(addresses) ? addresses.map(mailboxInLetters) : mailboxInLetters(addresses);

const ENCODED_NAME =
  /^\s*(=\?[^\s?]+\?[BQbq]\?[^\s?]*\?=(?:\s+=\?[^\s?]+\?[BQbq]\?[^\s?]*\?=)*)\s*(<[^<>]*>)\s*$/;

/** Anymail before 14.0 encodes the name of a recipient that has a comma or brackets. */
function mailboxInLetters(mailbox: string): string {
  const [, name, address] = ENCODED_NAME.exec(mailbox) ?? [];
  return name === undefined ? mailbox : `"${decodeWords(name).replace(/["\\]/g, '\\$&')}" ${address}`;
}

/** The sender's own fields, and the Message-ID, which Laravel writes among them. */
export function ownFields(fields: Fields | null | undefined): {
  readonly headers: Readonly<Record<string, string>> | null | undefined;
  readonly messageId: string | null;
} {
  const given = mapOf(fields);
  if (!given) return { headers: given, messageId: null };
  const headers: Record<string, string> = Object.create(null);
  let messageId: string | null = null;
  for (const [name, value] of Object.entries(given)) {
    const text = Array.isArray(value) ? value.join(', ') : value;
    if (messageId === null && name.toLowerCase() === 'message-id') messageId = text;
    else headers[name] = text;
  }
  return { headers, messageId };
}
