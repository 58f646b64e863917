import { valueOfField } from '../raw/header-editor.ts';
import { DELIVERED_FIELDS, wordsOfAddresses } from './address-keys.ts';
import { fieldsOf } from './header.ts';

/** The addresses in a message that was read of a mailbox, which has no envelope any more. */
export interface NamedRecipients {
  /** Of the fields that the server of the mailbox adds at the delivery. */
  readonly delivered: readonly string[];
  /** Of To and Cc. */
  readonly named: readonly string[];
  /** Return-Path (RFC 5321 4.4): '' for the null sender; null where there is none. */
  readonly returnPath: string | null;
}

const DELIVERED: ReadonlySet<string> = new Set(DELIVERED_FIELDS);
const NAMED = new Set(['to', 'cc', 'resent-to', 'resent-cc']);
/** Addresses that are looked at. */
const MOST = 200;

/** Reads them. */
export function namedRecipients(raw: Buffer): NamedRecipients {
  const delivered = new Set<string>();
  const named = new Set<string>();
  let returnPath: string | null = null;
  for (const field of fieldsOf(raw)) {
    const into = DELIVERED.has(field.name) ? delivered : NAMED.has(field.name) ? named : null;
    if (into) for (const word of wordsOfAddresses(field)) if (into.size < MOST) into.add(word);
    if (field.name === 'return-path')
      returnPath ??= /<([^<>]*)>/.exec(valueOfField(field))?.[1]?.trim() ?? null;
  }
  return { delivered: [...delivered], named: [...named], returnPath };
}
