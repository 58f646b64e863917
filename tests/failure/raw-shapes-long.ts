// Submits every message under folders, such as the test suites of mail parsers, and compares what leaves with
// what came:
//
//   bun tests/failure/raw-shapes-long.ts FOLDER… [--show 20]
//
// It reads files that end with .eml, .msg, .txt or .mail. The domains of From become one that is verified
// here, and a message whose From cannot be read is sent a second time with another one. A message leaves
// octet for octet but for the listed lines, or is refused for a reason of the list below. It ends with an
// error where either does not hold. `--show` prints so many differences.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { eventually } from '../support/eventually.ts';
import { compareLines } from '../support/listed-lines.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'string', default: '20' }, help: { type: 'boolean' } },
});
if (values.help || positionals.length === 0) {
  console.log('bun tests/failure/raw-shapes-long.ts FOLDER… [--show 20]');
  process.exit(values.help ? 0 : 2);
}

const DOMAIN = 'sender.example';
const AT_ONCE = 8;
const LARGEST = 25 * 1024 * 1024;
/** The reasons for which a message is refused. */
const REASONS: readonly RegExp[] = [
  /no From field/,
  /From field has a part that is no address/,
  /Must have a From field whose addresses/,
  /more than 50 addresses in From/,
  /more than one [\w-]+ field; RFC 5322/,
  /more than 1000 header fields/,
  /more than 50 Received fields/,
  /header of the message has more than 256 KiB/,
  /more than 25 MiB/,
  /takes too long to be read/,
  /unsubscribeUrl}} in a part that must stay/,
];
const OF_SENDER = /From field|addresses in From/;

/** Files that may be messages. */
async function* filesIn(path: string): AsyncGenerator<string> {
  if ((await stat(path)).isFile()) return yield path;
  for (const entry of (await readdir(path, { withFileTypes: true })).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) yield* filesIn(inside);
    else if (entry.isFile() && /\.(?:eml|msg|txt|mail)$/i.test(entry.name)) yield inside;
  }
}

/** False for what holds no header field at its beginning, as a text or a file of Outlook. */
const isMessage = (octets: Buffer): boolean =>
  /^[!-9;-~]+[ \t]*:/m.test(octets.toString('latin1', 0, 2_048).split(/\r?\n\r?\n/)[0] ?? '') &&
  octets.length <= LARGEST;

const FROM = /(?<=^|[\r\n])From[ \t]*:(?:[^\r\n]|\r\n?[ \t]|\n[ \t])*/i;
const OTHER = 'From: Shop <shop@sender.example>';

/** The message with the domains of its From at the verified one. */
function ours(octets: Buffer): Buffer {
  const [header, rest] = divided(octets);
  const changed = header.replace(FROM, (field) => field.replace(/@[^\s<>,;:"()[\]\\]+/g, `@${DOMAIN}`));
  return Buffer.from(changed + rest, 'latin1');
}

/** The message with another From. */
function withOther(octets: Buffer): Buffer {
  const [header, rest] = divided(octets);
  const changed = FROM.test(header) ? header.replace(FROM, OTHER) : `${OTHER}\r\n${header}`;
  return Buffer.from(changed + rest, 'latin1');
}

function divided(octets: Buffer): readonly [string, string] {
  const text = octets.toString('latin1');
  const end = /^\r?\n|\r\n\r\n|\n\r?\n|\r\r/.exec(text);
  return end ? [text.slice(0, end.index), text.slice(end.index)] : [text, ''];
}

interface Answer {
  readonly status: number;
  readonly id: string | null;
  readonly reason: string;
}

let recipients = 0;

async function post(service: LiveService, message: Buffer): Promise<Answer & { readonly to: string }> {
  const to = `r${++recipients}@example.com`;
  const answer = await fetch(new URL(`/v1/emails/raw?recipients=${to}`, service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'message/rfc822' },
    body: message as Buffer<ArrayBuffer>,
  });
  const { data, error } = (await answer.json()) as {
    data?: { id: string };
    error?: { code: string; message: string; details?: readonly { message: string }[] };
  };
  const reason = error
    ? `${error.code}: ${error.details?.map(({ message: one }) => one).join(' ') ?? error.message}`
    : '';
  return { status: answer.status, id: data?.id ?? null, reason, to };
}

const arrived = (sink: Sink, to: string): Promise<Buffer> =>
  eventually(`the copy for ${to}`, async () => sink.received.find((one) => one.to.includes(to))?.raw);

const counts = {
  files: 0,
  'no messages': 0,
  taken: 0,
  'taken with another From': 0,
  refused: 0,
  identical: 0,
};
const listed = new Map<string, number>();
const refusals = new Map<string, number>();
const faults: string[] = [];
const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

async function check(service: LiveService, sink: Sink, path: string): Promise<void> {
  counts.files++;
  const octets = await readFile(path);
  if (!isMessage(octets)) {
    counts['no messages']++;
    return;
  }
  let message = ours(octets);
  let answer = await post(service, message);
  if (answer.id === null) {
    count(refusals, answer.reason);
    if (!REASONS.some((reason) => reason.test(answer.reason)))
      faults.push(`${path}: refused for ${answer.reason}`);
    message = withOther(octets);
    const isOfSender = OF_SENDER.test(answer.reason);
    if (isOfSender) answer = await post(service, message);
    if (answer.id === null) {
      counts.refused++;
      if (isOfSender) count(refusals, `with another From, ${answer.reason}`);
      if (isOfSender && !REASONS.some((reason) => reason.test(answer.reason)))
        faults.push(`${path}: refused with another From for ${answer.reason}`);
      return;
    }
    counts['taken with another From']++;
  } else counts.taken++;
  const left = await arrived(sink, answer.to);
  const { listed: lines, faults: wrong } = compareLines(message, left, [DOMAIN]);
  for (const line of new Set(lines)) count(listed, line);
  if (wrong.length === 0) counts.identical++;
  else faults.push(...wrong.map((one) => `${path}: ${one}`));
}

await using sink = await startSink();
await using service = await startLiveService({ transport: relayTo(sink.port, 20_000) });
const paths: string[] = [];
for (const folder of positionals) for await (const path of filesIn(folder)) paths.push(path);
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop())
      await check(service, sink, path).catch((error: unknown) => faults.push(`${path}: ${String(error)}`));
  }),
);
console.table(counts);
console.log('Listed lines that differ, in how many messages:');
console.table(Object.fromEntries([...listed].toSorted(([, a], [, b]) => b - a)));
console.log('Reasons of refusals:');
console.table(Object.fromEntries([...refusals].toSorted(([, a], [, b]) => b - a)));
for (const fault of faults.slice(0, Number(values.show))) console.log(`✗ ${fault.slice(0, 600)}`);
console.log(
  faults.length === 0
    ? 'Every message left as it came but for the listed lines.'
    : `WRONG: ${faults.length} faults.`,
);
process.exit(faults.length === 0 ? 0 : 1);
