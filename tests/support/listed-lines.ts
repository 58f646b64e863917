/**
 * Compares a message that left with the one that came, by a reading that shares no code with the service:
 * octet for octet but for the lines that a submitted message may lose or gain (RFC 6409 8, RFC 5321 4.4).
 */

/** The outcome of a comparison. */
export interface LineComparison {
  /** The listed lines that differ: `+name` was added, `-name` removed, `~name` changed. */
  readonly listed: readonly string[];
  /** Each difference that is not on the list. */
  readonly faults: readonly string[];
}

/** A relay reads its commands in fields of these families. */
const COMMANDS = /^x-(?:ses|smtpapi|mc|mailgun|msys|pm|postmark|mj|mailjet|mailin|sib|mt)(?:-|$)/;
const REMOVED: ReadonlySet<string> = new Set(['bcc', 'resent-bcc', 'return-path', 'idempotency-key']);
const LONGEST_LINE = 998;
const OURS = /^received:[\s\S]* with (?:HTTP|E?SMTPS?A?) id\s+em_/i;
/** Forms that no server may replace (RFC 5322 3.3 and 3.6.4). */
const DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?(?:[1-9]|[12]\d|0[1-9]|3[01]) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} [012]\d:[0-5]\d(?::[0-5]\d)? [+-]\d{4}$/;
const MESSAGE_ID = /^<[\w.!#$%&'*+/=?^`{|}~-]+@[\w.!#$%&'*+/=?^`{|}~-]+>$/;

interface Field {
  readonly name: string;
  readonly octets: string;
}

/** Compares two messages. `domains` signed what left. */
export function compareLines(came: Buffer, left: Buffer, domains: readonly string[]): LineComparison {
  const before = divide(inLines(came.toString('latin1')));
  const after = divide(left.toString('latin1'));
  const listed: string[] = [];
  const faults: string[] = [];
  const rest = [...after.fields];
  while (rest[0]?.name === 'dkim-signature' && isSignatureOf(rest[0], domains)) {
    rest.shift();
    listed.push('+dkim-signature');
  }
  if (rest[0] && OURS.test(rest[0].octets)) {
    rest.shift();
    listed.push('+received');
  } else faults.push('there is no Received field of the service on top');
  const isShortened = before.body.split('\r\n').some((line) => line.length > LONGEST_LINE);
  for (const field of before.fields) {
    if (isRemoved(field, domains)) {
      listed.push(`-${field.name}`);
      continue;
    }
    const next = rest.shift();
    if (next?.octets === field.octets) continue;
    const change = next?.name === field.name ? changeOf(field, next, isShortened) : null;
    if (change === null) {
      faults.push(`${JSON.stringify(field.octets)} became ${JSON.stringify(next?.octets ?? null)}`);
      break;
    }
    listed.push(change);
  }
  const had = new Set(before.fields.map(({ name }) => name));
  for (const { name, octets } of faults.length === 0 ? rest : []) {
    const isNew = !had.has(name);
    const isEncoding = isShortened && name === 'content-transfer-encoding';
    const isVersion = name === 'mime-version' && (isShortened || isMime(had));
    if (isNew && (name === 'date' || name === 'message-id' || isVersion || isEncoding))
      listed.push(`+${name}`);
    else faults.push(`${JSON.stringify(octets)} was added`);
  }
  if (before.body !== after.body) {
    const isShort = after.body.split('\r\n').every((line) => line.length <= LONGEST_LINE);
    if (isShortened) listed.push(isShort ? '~long lines' : '~long lines in part');
    else faults.push(`the body differs: ${firstDifference(before.body, after.body)}`);
  }
  return { listed, faults };
}

/** The lines of a message in the form of SMTP (RFC 5321 2.3.8): each end is CRLF, also the last one. */
function inLines(message: string): string {
  const lines = message.split(/\r+\n|\r|\n/);
  if (lines.at(-1) !== '') lines.push('');
  return lines.join('\r\n');
}

function divide(message: string): { readonly fields: readonly Field[]; readonly body: string } {
  const fields: Field[] = [];
  let at = 0;
  while (at < message.length && !message.startsWith('\r\n', at)) {
    let end = message.indexOf('\r\n', at) + 2;
    if (end === 1) end = message.length;
    while (message[end] === ' ' || message[end] === '\t') {
      const next = message.indexOf('\r\n', end);
      end = next === -1 ? message.length : next + 2;
    }
    const octets = message.slice(at, end);
    fields.push({ name: /^([^\s:]+)[ \t]*:/.exec(octets)?.[1]?.toLowerCase() ?? '', octets });
    at = end;
  }
  return { fields, body: message.slice(at) };
}

const unfolded = ({ octets }: Field): string =>
  octets
    .slice(octets.indexOf(':') + 1)
    .replaceAll('\r\n', '')
    .trim();

const isSignatureOf = (field: Field, domains: readonly string[]): boolean => {
  const domain = /(?:^|;)\s*d\s*=\s*([^\s;]+)/.exec(unfolded(field))?.[1]?.toLowerCase();
  return domain !== undefined && domains.includes(domain);
};

const isRemoved = (field: Field, domains: readonly string[]): boolean =>
  REMOVED.has(field.name) ||
  field.name.startsWith('x-svc-') ||
  COMMANDS.test(field.name) ||
  (field.name === 'dkim-signature' && isSignatureOf(field, domains));

const isMime = (names: ReadonlySet<string>): boolean =>
  [...names].some((name) => name.startsWith('content-'));

/** The change of a field that is on the list; null for any other. */
function changeOf(before: Field, after: Field, isShortened: boolean): string | null {
  const { name } = before;
  const isLong = before.octets.split('\r\n').some((line) => line.length > LONGEST_LINE);
  if (isLong && unfolded(before) === unfolded(after)) return `~folds of ${name}`;
  if (name === 'date') return DATE.test(unfolded(before)) ? null : '~date';
  if (name === 'message-id') return MESSAGE_ID.test(unfolded(before)) ? null : '~message-id';
  return name === 'content-transfer-encoding' && isShortened ? '~content-transfer-encoding' : null;
}

function firstDifference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const around = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 30), at + 30));
  return `at ${at}, ${around(one)} became ${around(other)}`;
}
