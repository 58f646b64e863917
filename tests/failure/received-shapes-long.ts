// Reads messages of other projects' test suites with this service, mailparser and Python's email, and
// compares what they find:
//
//   bun tests/failure/received-shapes-long.ts [FOLDER…] [--show 20] [--help]
//
// Without a folder it downloads the suites that Debian has, into a folder of the machine. It counts, for each
// field, how often all three agree and with whom this service agrees else. Where it differs from both, a
// reason has to be known (`received-shapes/judged.ts`): it ends with an error where there is none, or where
// fewer than 300 messages were read. Of those `--show` are printed.
import { parseArgs } from 'node:util';
import { type Difference, JUDGED } from './received-shapes/judged.ts';
import { type Facts, FIELDS, readByMailparser, readByPython, readByUs } from './received-shapes/readers.ts';
import { downloadSuites, messagesUnder, type SuiteMessage } from './received-shapes/sources.ts';

const USAGE = 'bun tests/failure/received-shapes-long.ts [FOLDER…] [--show 20]';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'string', default: '20' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
/** The shapes that are promised to be compared. */
const LEAST = 300;

const folders = positionals.length > 0 ? positionals : [await downloadSuites(console.log)];
const messages: SuiteMessage[] = [];
for (const folder of folders) messages.push(...(await messagesUnder(folder)));
const byPython = await readByPython(messages.map(({ raw }) => raw));

type Agreement = 'all agree' | 'with mailparser' | 'with Python' | 'with neither';
const counts = Object.fromEntries(
  FIELDS.map((field) => [
    field,
    { 'all agree': 0, 'with mailparser': 0, 'with Python': 0, 'with neither': 0 } as Record<
      Agreement,
      number
    >,
  ]),
);
const agreementOf = (ours: string, mailparser?: string, python?: string): Agreement => {
  if (ours === mailparser) return ours === python ? 'all agree' : 'with mailparser';
  return ours === python ? 'with Python' : 'with neither';
};
const reasons = new Map<string, number>();
const unexplained: Difference[] = [];

function compare(
  { source, raw }: SuiteMessage,
  ours: Facts,
  others: readonly (Facts | null | undefined)[],
): void {
  const [mailparser, python] = others;
  for (const field of FIELDS) {
    const agreement = agreementOf(ours[field], mailparser?.[field], python?.[field]);
    (counts[field] as Record<Agreement, number>)[agreement]++;
    if (agreement !== 'with neither') continue;
    const difference: Difference = {
      source,
      raw: raw.toString('latin1'),
      field,
      ours: ours[field],
      mailparser: mailparser?.[field] ?? '',
      python: python?.[field] ?? '',
    };
    const [reason] = Object.entries(JUDGED).find(([, holds]) => holds(difference)) ?? [];
    if (reason === undefined) unexplained.push(difference);
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
}

for (const [at, message] of messages.entries())
  compare(message, await readByUs(message.raw), [await readByMailparser(message.raw), byPython[at]]);

console.log(`${messages.length} messages were read.`);
console.table(counts);
for (const [reason, times] of reasons) console.log(`${String(times).padStart(4)} × ${reason}`);
for (const { source, field, ours, mailparser, python } of unexplained.slice(0, Number(values.show))) {
  console.log(`✗ ${field} of ${source}`);
  for (const [name, found] of Object.entries({ ours, mailparser, python }))
    console.log(`    ${name.padEnd(10)} ${JSON.stringify(found.slice(0, 300))}`);
}
const isEnough = messages.length >= LEAST;
if (!isEnough) console.log(`✗ Only ${messages.length} messages could be had; ${LEAST} are to be compared.`);
console.log(
  unexplained.length === 0
    ? 'Every message is read as another reader reads it, or differs for a known reason.'
    : `WRONG: ${unexplained.length} differences without a reason.`,
);
process.exit(isEnough && unexplained.length === 0 ? 0 : 1);
