import type { RawField } from './header-editor.ts';

/**
 * The fields that a message has at most once (RFC 5322, 3.6), in lower case. Programs disagree about which of
 * two counts, so a message with two of them can show one sender, recipient or subject here and another one to
 * its reader. No reader sees a Bcc, of which clients write one for each recipient.
 */
const AT_MOST_ONCE: ReadonlySet<string> = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
]);

/** The name of a field that a message has twice though it may have it once; null when there is none. */
export function repeatedField(fields: readonly RawField[]): string | null {
  const seen = new Set<string>();
  for (const { name, octets } of fields) {
    if (!AT_MOST_ONCE.has(name)) continue;
    if (seen.has(name)) return octets.slice(0, name.length);
    seen.add(name);
  }
  return null;
}
