// Replaces two instances of the version before by this one, one after the other, on one PostgreSQL, while
// live and test mail, batches and webhooks go on: the first new instance migrates while an old one serves.
//   bun tests/failure/rolling-upgrade-long.ts [--old PATH] [--new PATH] [--clients 4]
// --old: the executable of the version before; built otherwise, of the commit that tests/fixtures/upgrade was
// made of (three minutes). --new: the executable of this version; the source otherwise.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDatabase } from '../../src/platform/db/open.ts';
import { Posthorn } from '../../src/web/client/posthorn.ts';
import facts from '../fixtures/upgrade/facts.json';
import { startSink } from '../integration/transport/smtp-sink.ts';
import { createClient } from '../support/client.ts';
import { command } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, spawnService, startService, TEST_KEY } from '../support/service.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { roll } from './rolling.ts';

const optionOf = (name: string): string | null => {
  const place = process.argv.indexOf(name);
  return place < 0 ? null : (process.argv[place + 1] ?? null);
};
const clients = Number(optionOf('--clients') ?? 4);
/** The requests of the clients, in turn. */
const KINDS = ['live', 'batch', 'test', 'later', 'read', 'contact'] as const;
/** The emails accepted before the first instance is replaced, while both versions serve, and afterwards. */
const SOME = 400;

await using stack = new AsyncDisposableStack();
const older = [resolve(optionOf('--old') ?? build(facts.of))];
const newerPath = optionOf('--new');
const newer = newerPath === null ? undefined : [resolve(newerPath)];

/** The executable of a commit, built in a worktree that goes again. */
function build(commit: string): string {
  const home = mkdtempSync(join(tmpdir(), 'posthorn-older-'));
  const run = (cwd: string, program: string, ...words: string[]): void => {
    const { status } = spawnSync(program, words, { cwd, stdio: 'inherit' });
    if (status !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${status}.`);
  };
  stack.defer(() => {
    run('.', 'git', 'worktree', 'remove', '--force', join(home, 'checkout'));
    rmSync(home, { recursive: true, force: true });
  });
  const checkout = join(home, 'checkout');
  run('.', 'git', 'worktree', 'add', '--detach', checkout, commit);
  run(checkout, process.execPath, 'install', '--frozen-lockfile', '--silent');
  run(checkout, process.execPath, 'run', 'build');
  return join(checkout, 'dist/posthorn');
}

/** The number of arrivals of each message, by the id of its email. */
const copies = new Map<string, number>();
/** The number of welcome mails by address. */
const welcomed = new Map<string, number>();
const sink = stack.use(
  await startSink({
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const message = Buffer.concat(chunks).toString();
        const id = /^Message-ID: <(em_\w+)@/m.exec(message)?.[1] ?? '';
        copies.set(id, (copies.get(id) ?? 0) + 1);
        const to = /^To: <?(c\d+@example\.com)/m.exec(message)?.[1];
        if (to !== undefined) welcomed.set(to, (welcomed.get(to) ?? 0) + 1);
        done();
      });
    },
  }),
);
const receiver = stack.use(openReceiver());
const made = stack.use(await createTestDatabase());
const database = await openDatabase({ url: made.url, dataDir: null });
stack.defer(() => database.close());
// Tests get a database with the schema of now, and the version before makes its own.
await database.script('drop schema public cascade; create schema public');

const env = {
  DATABASE_URL: made.url,
  SECRET_KEY: 'only-for-tests-only-for-tests-only',
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=none`,
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  RATE_LIMIT_PER_IP: '0',
  RATE_LIMIT_PER_KEY: '0',
  TEST_SENDS_PER_DAY: '0',
  DEFAULT_PLAN: 'unlimited',
  LOG_LEVEL: 'warn',
};
{
  // While mail is captured a reserved name verifies at once; the domain then stays verified.
  await using first = await startService({ env, command: older });
  await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
  const client = createClient(first.url, LIVE_KEY);
  await client.post('/v1/webhooks', { url: receiver.url, events: ['sent'] });
  // Each contact that is added gets one mail, by a run that any instance may carry out.
  const subject = 'Welcome';
  const template = await client.post('/v1/templates', {
    name: subject,
    subject,
    html: '<p>Hello</p>',
    from: 'shop@sender.example',
  });
  const config = { templateId: template.body.data.id };
  const flow = await client.post('/v1/flows', {
    name: subject,
    trigger: { type: 'contactCreated' },
    steps: [{ key: 'hello', type: 'sendEmail', config }],
    edges: [],
  });
  const active = await client.post(`/v1/flows/${flow.body.data.id}/activate`, {});
  if (active.status >= 300) throw new Error(JSON.stringify([flow.body, active.body]));
  await first.stop();
}

/** The acknowledged emails, and the answers below the retries of the client. */
const live = new Set<string>();
const test = new Set<string>();
/** Their ids by their addresses. */
const contacts = new Map<string, string>();
const heard = new Map<string, number>();
const email = {
  from: 'shop@sender.example',
  to: 'r@example.com',
  subject: 'Order',
  text: 'It is on its way.',
};
const tested = { ...email, to: 'delivered@simulator.svc.test' };
let turn = 0;

/** One call of the published client, which repeats what it may. */
async function request(next: () => string): Promise<number | string> {
  const kind = KINDS[turn++ % KINDS.length];
  const connect = (apiKey: string) =>
    new Posthorn({
      apiKey,
      baseUrl: 'http://posthorn.invalid',
      // Each attempt goes to an instance that is ready.
      async fetch(url, init) {
        const answer = await fetch(url.replace('http://posthorn.invalid', next()), init).catch((error) => {
          count(`no answer: ${(error as { code?: string }).code ?? error}`);
          throw error;
        });
        count(String(answer.status));
        return answer;
      },
    });
  const posthorn = connect(kind === 'test' ? TEST_KEY : LIVE_KEY);
  try {
    if (kind === 'live') live.add((await posthorn.emails.send(email)).id);
    else if (kind === 'test') test.add((await posthorn.emails.send(tested)).id);
    else if (kind === 'later') {
      const scheduledAt = new Date(Date.now() + 2_000).toISOString();
      live.add((await posthorn.emails.send({ ...email, scheduledAt })).id);
    } else if (kind === 'contact') {
      const address = `c${turn}@example.com`;
      contacts.set(address, (await posthorn.contacts.create({ email: address })).id);
    } else if (kind === 'read') {
      const [latest] = (await posthorn.emails.list({ limit: 5 }).first()).data;
      if (latest) await posthorn.emails.explain(latest.id);
    } else {
      const items = await posthorn.emails.sendBatch([email, email, email]);
      for (const item of items) if ('id' in item) live.add(item.id);
    }
    return kind === 'read' ? 200 : 202;
  } catch (error) {
    return `${kind}: ${JSON.stringify(error)}`;
  }
}
const count = (what: string): void => void heard.set(what, (heard.get(what) ?? 0) + 1);

/** The emails that the receiver of webhooks was told of. */
const toldOf = (): Set<string> =>
  new Set(receiver.received.map(({ body }) => (JSON.parse(body) as { emailId: string }).emailId));

/** By the version that has migrated: another one refuses the schema. */
async function audited(): Promise<{ readonly code: number | null; readonly out: string }> {
  if (!newer) return await command(env, 'audit');
  const { status, stdout, stderr } = spawnSync(newer[0] ?? '', ['audit'], { env, encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

let complaints: readonly string[] = [];
const statuses = await roll({
  env: { ...env, TRANSPORT: 'smtp' },
  instances: [null, null],
  replaced: [0, 1],
  clients,
  request,
  some: SOME,
  older,
  ...(newer && { newer }),
  replacedAll(instances) {
    const said = instances.map((instance) => instance.output()).join('');
    complaints = [...said.matchAll(/"(?:msg|err)":"[^"]*(?:failed|could not)[^"]*"/g)].map(([line]) => line);
  },
  async settled() {
    await eventually(
      'every live email has arrived',
      () => [...live].every((id) => copies.has(id)) || undefined,
    );
    await eventually('every test email is delivered', async () => {
      const [row] = await database.query<{ n: number }>(
        `select count(*)::int as n from emails_now where id = any($1) and state = 'delivered'`,
        [[...test]],
      );
      return row?.n === test.size || undefined;
    });
    await eventually(
      'everybody is welcomed',
      () => [...contacts.keys()].every((to) => welcomed.has(to)) || undefined,
    );
    await eventually('every webhook was posted', () => toldOf().isSupersetOf(live) || undefined);
  },
});
const [kept] = await database.query<{ n: number }>(
  'select count(*)::int as n from contacts where id = any($1)',
  [[...contacts.values()]],
);
const ledger = () =>
  database.query<{ name: string }>('select name, hash from posthorn_migrations order by name');
const before = await ledger();
const downgrade = stack.use(await spawnService({ env, command: older }));
const refusal = { code: await downgrade.ended, said: downgrade.output().trim() };
const audit = await audited();

const failed = [...statuses].filter(([status]) => status !== 200 && status !== 202);
const findings = {
  'a request failed for good': failed.length > 0,
  'an acknowledged email was lost': [...live].some((id) => !copies.has(id)),
  'an email came twice': [...copies.values()].some((times) => times > 1),
  'a message has no recipient': copies.size !== live.size + contacts.size,
  'a person was welcomed twice': [...welcomed.values()].some((times) => times > 1),
  'a contact was lost': kept?.n !== contacts.size,
  'the audit found faults': audit.code !== 0,
  'the downgrade was not refused':
    refusal.code !== 1 || !/has migration \w+, which this version does not know/.test(refusal.said),
  'the downgrade changed something': JSON.stringify(await ledger()) !== JSON.stringify(before),
};
const known = before.findLastIndex(({ name }) => name === facts.lastMigration);
console.log(
  JSON.stringify(
    {
      older: optionOf('--old') ?? facts.of,
      migrations: before.slice(known + 1).map(({ name }) => name),
      clients,
      live: live.size,
      test: test.size,
      contacts: contacts.size,
      posted: receiver.received.length,
      answers: Object.fromEntries(heard),
      complaints,
      failed: Object.fromEntries(failed),
      refusal,
      audit: audit.out.trim().split('\n').at(-1),
    },
    null,
    2,
  ),
);
const wrong = Object.entries(findings).flatMap(([what, is]) => (is ? [what] : []));
console.log(
  wrong.length === 0
    ? 'No request failed for good, no email was lost or came twice, and the way back was refused.'
    : `WRONG: ${wrong.join('; ')}`,
);
await stack.disposeAsync();
process.exit(wrong.length === 0 ? 0 : 1);
