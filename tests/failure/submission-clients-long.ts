// Sends through the submission port with real programs, and compares what leaves with what they gave:
//
//   bun tests/failure/submission-clients-long.ts [--only msmtp,postfix] [--help]
//
// It installs msmtp, nullmailer, s-nail, swaks, git send-email, Python, PHPMailer and Ruby mail of Debian in
// one file tree, Postfix, Exim, Sendmail and OpenSMTPD as smarthosts in a tree each, and takes nodemailer
// from here. It needs root and debootstrap, and takes some ten minutes the first time. A program that cannot
// be had is named with the reason. No mail leaves this machine. The table says of each: the lines that
// differ, and whether all else is the same, threads hold, invitations and files arrive; of a smarthost also
// whether its report to a sender leaves as a report that nothing is sent about, and whether what it asks of
// reports arrives at the next server. It ends with an error where one of these does not hold.
import { createHash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Received, type Sink, startSink } from '../integration/transport/smtp-sink.ts';
import { eventually } from '../support/eventually.ts';
import { compareLines } from '../support/listed-lines.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { anyPort, spawnInTree, startTreeServer, writeInTree } from './report-servers/tree-server.ts';
import { missing, treeWith } from './report-servers/trees.ts';
import { sendByNodemailer, sendThroughSmarthost } from './submission-clients/nodemailer.ts';
import {
  CALENDAR,
  FILE,
  FILE_NAME,
  MESSAGE,
  PROGRAM_PACKAGES,
  PROGRAMS,
  type SubmissionProgram,
} from './submission-clients/programs.ts';
import { type HandedMessage, type Recorder, startRecorder } from './submission-clients/recorder.ts';
import { SMARTHOSTS } from './submission-clients/smarthosts.ts';

const { values } = parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean' } } });
const NAMES = ['nodemailer', ...Object.keys(PROGRAMS), ...Object.keys(SMARTHOSTS)];
if (values.help) {
  console.log(`bun tests/failure/submission-clients-long.ts [--only NAME,…]\nNames: ${NAMES.join(', ')}`);
  process.exit(0);
}
const isAskedFor = (name: string): boolean => values.only?.split(',').includes(name) ?? true;

const HOST = 'mx.sender.example';
const DOMAINS = ['sender.example', HOST];
/** All programs together need seconds to send; one that hangs is ended. */
const PATIENCE = { withinMs: 60_000 };
const SHA = createHash('sha256').update(FILE).digest('hex');

type Row = Record<'differs' | 'else' | 'threads' | 'invitation' | 'file' | 'report' | 'DSN', string>;
const NONE: Row = { differs: '', else: '', threads: '', invitation: '–', file: '–', report: '–', DSN: '–' };
const rows: Record<string, Row> = {};
const faults: string[] = [];

interface Leaf {
  readonly type: string;
  readonly within: string | null;
  readonly method: string | null;
  readonly filename: string | null;
  readonly sha256: string;
  readonly begins: string;
}
interface Structure {
  readonly type: string;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: string | null;
  readonly leaves: readonly Leaf[];
}

let tree: string | null = null;

/** The structure of a message, as Python reads it. */
async function structureOf(octets: Buffer): Promise<Structure> {
  const command = 'exec python3 /tmp/posthorn/parts_of.py';
  const child =
    tree === null
      ? Bun.spawn(['python3', new URL('submission-clients/parts_of.py', import.meta.url).pathname], {
          stdin: octets,
          stdout: 'pipe',
          stderr: 'inherit',
        })
      : spawnInTree(tree, 'client.test', command, {}, octets);
  return (await new Response(child.stdout).json()) as Structure;
}

/** The copies of a message that have left. */
async function copiesOf(sink: Sink, { reply, recipients }: HandedMessage): Promise<readonly Received[]> {
  const id = /em_\w+/.exec(reply)?.[0];
  if (id === undefined) throw new Error(`It was refused: ${reply}`);
  return eventually(
    `the copies of ${id}`,
    async () => {
      const copies = sink.received.filter(({ raw }) =>
        new RegExp(`^Received:[^\\0]{0,400}id\\s+${id}`, 'm').test(raw.toString('latin1', 0, 8_192)),
      );
      return copies.length >= recipients.length ? copies : undefined;
    },
    PATIENCE,
  );
}

/** Compares the copies of messages with them, and states what holds. */
async function judge(
  name: string,
  handed: readonly HandedMessage[],
  sink: Sink,
  { hasFile, invites, isSeries }: Partial<SubmissionProgram>,
): Promise<Row> {
  const listed = new Set<string>();
  const wrong: string[] = [];
  const structures: Structure[] = [];
  for (const message of handed) {
    const came = await structureOf(message.octets);
    for (const { raw } of await copiesOf(sink, message)) {
      const compared = compareLines(message.octets, raw, DOMAINS);
      for (const line of compared.listed) listed.add(line);
      wrong.push(...compared.faults);
      const left = await structureOf(raw);
      structures.push(left);
      for (const field of ['messageId', 'inReplyTo', 'references'] as const)
        if (came[field] !== null && came[field] !== left[field]) wrong.push(`${field} became ${left[field]}`);
    }
  }
  const ids = new Set(structures.map(({ messageId }) => messageId));
  const isThread = structures.every(
    ({ messageId, inReplyTo }) =>
      messageId !== null && (!isSeries || inReplyTo === null || ids.has(inReplyTo)),
  );
  const isLinked =
    !isSeries || structures.filter(({ inReplyTo }) => inReplyTo !== null).length === handed.length - 1;
  const leaves = structures.flatMap((structure) => structure.leaves);
  const isInvited = leaves.some(
    ({ type, method, begins }) =>
      type === 'text/calendar' &&
      method?.toUpperCase() === 'REQUEST' &&
      /\r?\nMETHOD:REQUEST\r?\n/.test(begins),
  );
  const hasArrived = leaves.some(({ filename, sha256 }) => filename === FILE_NAME && sha256 === SHA);
  const yes = (holds: boolean, what: string): string => {
    if (!holds) faults.push(`${name}: ${what}`);
    return holds ? 'yes' : 'NO';
  };
  for (const one of wrong) console.log(`✗ ${name}: ${one.slice(0, 500)}`);
  return {
    ...NONE,
    differs: [...listed].toSorted().join(' '),
    else: yes(wrong.length === 0, 'it left changed').replace('yes', 'same'),
    threads: yes(isThread && isLinked, 'a thread breaks'),
    ...(invites && { invitation: yes(isInvited, 'the invitation cannot be accepted') }),
    ...(hasFile && { file: yes(hasArrived, 'the file has not arrived') }),
  };
}

/** Runs a program in the tree until its messages have come. */
async function runProgram(
  { command, files, messages }: SubmissionProgram,
  within: string,
  recorder: Recorder,
  key: string,
): Promise<readonly HandedMessage[]> {
  const before = recorder.handed.length;
  await writeInTree(within, {
    '/tmp/posthorn/message.eml': Buffer.from(MESSAGE, 'latin1'),
    '/tmp/posthorn/calendar.ics': CALENDAR,
    [`/tmp/posthorn/${FILE_NAME}`]: FILE,
    '/tmp/posthorn/parts_of.py': await Bun.file(
      new URL('submission-clients/parts_of.py', import.meta.url),
    ).text(),
    ...files,
  });
  const child = spawnInTree(within, 'client.test', `cd /tmp/posthorn; ${command}`, {
    PORT: String(recorder.port),
    KEY: key,
  });
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const failed = child.exited.then((code) =>
    code === 0 ? new Promise<never>(() => {}) : Promise.reject(new Error(`it ended with ${code}`)),
  );
  const came = eventually(
    'its messages',
    async () => (recorder.handed.length >= before + messages ? recorder.handed.slice(before) : undefined),
    PATIENCE,
  );
  try {
    return await Promise.race([came, failed]);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${String(error)}: ${(await said).join('\n').slice(-800)}`);
  } finally {
    child.kill('SIGKILL');
    await child.exited;
  }
}

const PARAMETERS = ['ENVID=order+7 RET=HDRS', 'NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;first@example.com'];

/** Sends through a smarthost, has it report to a sender, and has such a report refused. */
async function throughSmarthost(
  name: string,
  port: number,
  recorder: Recorder,
  service: LiveService,
  sink: Sink,
): Promise<Row> {
  const from = recorder.handed.length;
  // OpenSMTPD hangs up for a moment after its first greeting.
  const send = (mail: Parameters<typeof sendThroughSmarthost>[1]) =>
    eventually('it takes mail', () => sendThroughSmarthost(port, mail).then(() => true), PATIENCE);
  const handed = (count: number) =>
    eventually(
      'what it passes on',
      async () => (recorder.handed.length >= from + count ? recorder.handed.slice(from) : undefined),
      PATIENCE,
    );
  await send({ from: 'shop@sender.example', to: 'ada@example.com' });
  const passed = await handed(1);
  const row = await judge(name, passed, sink, { hasFile: true, invites: true });
  const [copy] = await copiesOf(sink, passed[0] as HandedMessage);
  const parameters = copy?.parameters?.join(' | ') ?? '';
  const hasParameters = PARAMETERS.every((one) => one.split(' ').every((word) => parameters.includes(word)));
  if (!hasParameters) faults.push(`${name}: of reports is asked: ${parameters}`);
  // Posthorn refuses mail whose author is at a foreign domain. The smarthost reports that to the envelope's
  // sender, again through Posthorn.
  await send({
    from: 'shop@sender.example',
    to: 'ada@example.com',
    author: 'other@else.example',
  });
  const [, , report] = await handed(3);
  await send({
    from: 'lost@sender.example',
    to: 'ada@example.com',
    author: 'other@else.example',
  });
  const [, , , , lost] = await handed(5);
  if (!report || !lost) throw new Error('It reports nothing.');
  const judged = await judge(name, [report], sink, {});
  const [reported] = await copiesOf(sink, report);
  const { type, leaves } = await structureOf(reported?.raw ?? Buffer.alloc(0));
  const id = /em_\w+/.exec(lost.reply)?.[0] ?? '';
  await service.until(id, ({ status }) => status === 'failed');
  const asked = await service.service.database.query(
    'select 1 as one from report_requests where email_id = $1',
    [id],
  );
  // OpenSMTPD writes multipart/mixed around its status.
  const hasStatus = leaves.some(({ within }) => within === 'message/delivery-status');
  const isReport = reported?.from === '' && hasStatus && /^MAIL FROM:<>/i.test(report.mail);
  const isUnanswered = asked.length === 0 && sink.received.every(({ raw }) => !raw.includes(`report.${id}`));
  if (!isReport) faults.push(`${name}: its report left as ${type} from <${reported?.from}>`);
  if (!isUnanswered) faults.push(`${name}: a report on its report was sent`);
  return {
    ...row,
    differs: [...new Set(`${row.differs} ${judged.differs}`.split(' '))].toSorted().join(' '),
    else: row.else === judged.else ? row.else : 'NO',
    report: isReport && isUnanswered ? 'yes' : 'NO',
    DSN: hasParameters ? 'yes' : 'NO',
  };
}

const submission = await freePort();
await using sink = await startSink({
  hideDSN: false,
  onRcptTo: ({ address }, _session, done) =>
    done(
      address.startsWith('lost')
        ? Object.assign(new Error('5.1.1 No such mailbox'), { responseCode: 550 })
        : null,
    ),
});
await using service = await startLiveService({
  transport: relayTo(sink.port, 20_000),
  environment: { SUBMISSION_PORT: String(submission) },
});
const added = await service.live.post('/v1/domains', { name: HOST });
if (added.body.data?.status !== 'verified') throw new Error(JSON.stringify(added.body));
await using recorder = await startRecorder(submission);
await using secure = await startRecorder(submission, true);
const key = service.keys.live;

const attempt = async (name: string, work: () => Promise<Row>): Promise<void> => {
  try {
    rows[name] = await work();
  } catch (error) {
    const { cause } = error as Error;
    faults.push(`${name}: ${String(error)}${cause ? ` (${String(cause)})` : ''}`);
    rows[name] = { ...NONE, else: 'FAILED' };
  }
  console.log(`${name} was run.`);
};

const lacking = missing();
const had =
  lacking === null && Object.keys(PROGRAMS).some(isAskedFor)
    ? await treeWith('submission-clients', PROGRAM_PACKAGES)
    : { reason: lacking ?? 'it was not asked for' };
if ('tree' in had) {
  tree = had.tree;
  await writeInTree(tree, {
    '/tmp/posthorn/parts_of.py': await Bun.file(
      new URL('submission-clients/parts_of.py', import.meta.url),
    ).text(),
  });
}
if (isAskedFor('nodemailer'))
  await attempt('nodemailer', async () => {
    const before = recorder.handed.length;
    await sendByNodemailer(recorder.port, key);
    return judge('nodemailer', recorder.handed.slice(before), sink, { hasFile: true, invites: true });
  });
for (const [name, program] of Object.entries(PROGRAMS).filter(([one]) => isAskedFor(one))) {
  const within = tree;
  if (within === null) console.log(`${name} was not run: ${'reason' in had ? had.reason : ''}.`);
  else
    await attempt(name, async () =>
      judge(name, await runProgram(program, within, recorder, key), sink, program),
    );
}
for (const [name, smarthost] of Object.entries(SMARTHOSTS).filter(([one]) => isAskedFor(one))) {
  const found = lacking === null ? await treeWith(smarthost.tree, smarthost.packages) : { reason: lacking };
  if ('reason' in found) {
    console.log(`${name} was not run: ${found.reason}.`);
    continue;
  }
  await attempt(name, async () => {
    const way = smarthost.needsTls ? secure : recorder;
    const port = anyPort();
    await writeInTree(found.tree, smarthost.files(port, way.port, key));
    await using _server = await startTreeServer(found.tree, HOST, port, smarthost.start(port));
    // The server is there until all of it is done.
    return await throughSmarthost(name, port, way, service, sink);
  });
}
console.table(rows);
for (const fault of faults) console.log(`✗ ${fault}`);
console.log(
  faults.length === 0 ? 'All left as it came but for the lines above.' : `WRONG: ${faults.length} faults.`,
);
process.exit(faults.length === 0 ? 0 : 1);
