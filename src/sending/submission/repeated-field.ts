/**
 * The fields that a message has at most once (RFC 5322, 3.6), in lower case. Programs disagree about which of two counts, so a
 * message with two of them can show one sender, recipient or subject here and another one to its reader.
 */
const AT_MOST_ONCE: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['subject', 'date', 'message-id', 'in-reply-to', 'references'],
]);

const FIELD = /^([!-9;-~]+)[ \t]*:/gm;

/** The name of a field that a message has twice though it may have it once; null when there is none. */
export function repeatedField(raw: Buffer): string | null {
  const header = raw.toString('latin1', 0, endOfHeader(raw));
  const seen = new Set<string>();
  for (const [, name = ''] of header.matchAll(FIELD)) {
    const field = name.toLowerCase();
    if (!AT_MOST_ONCE.has(field)) continue;
    if (seen.has(field)) return name;
    seen.add(field);
  }
  return null;
}

/** The header ends at the first empty line, also where lines end with LF alone. */
function endOfHeader(raw: Buffer): number {
  const ends = ['\r\n\r\n', '\n\n', '\n\r\n'].map((end) => raw.indexOf(end)).filter((at) => at !== -1);
  return Math.min(raw.length, ...ends);
}
