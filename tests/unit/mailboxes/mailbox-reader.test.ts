import { expect, spyOn, test } from 'bun:test';
import { ImapMailbox } from '../../../src/mail/imap/imap-mailbox.ts';
import type { Logger } from '../../../src/platform/telemetry/logger.ts';
import { MailboxKeeper } from '../../../src/sending/mailboxes/keeper.ts';
import type { ClaimedMailbox } from '../../../src/sending/mailboxes/leases.ts';
import { MailboxReader, type MailboxReaderDeps } from '../../../src/sending/mailboxes/mailbox-reader.ts';
import { eventually } from '../../support/eventually.ts';
import { EXAMINED, type ScriptedImap, startScriptedImap } from '../../support/scripted-imap.ts';

const settingsOf = ({ account }: ScriptedImap, more: Partial<ClaimedMailbox> = {}): ClaimedMailbox => ({
  id: 'mbx_1',
  workspaceId: 'ws_1',
  livemode: true,
  sealed: '',
  failures: 0,
  problem: null,
  holder: 'holder',
  host: 'localhost',
  port: account.port,
  security: account.security,
  username: account.username,
  folder: 'INBOX',
  uidValidity: null,
  lastUid: 0,
  since: null,
  ...more,
});

/** The services of a reader, and the parameters of its statements. */
function servicesOf({ account }: ScriptedImap, connected: () => unknown = () => {}) {
  const statements: (readonly unknown[])[] = [];
  const deps = {
    sealer: { open: () => account.password },
    leases: { holder: 'holder', connected: async () => connected() },
    hosts: () => ({ addressesOf: async () => [account.address] }),
    database: {
      async query(_: string, values: readonly unknown[]) {
        statements.push(values);
        return [{ id: 'mbx_1', since: 0 }];
      },
    },
    ca: account.ca,
    now: () => Date.now(),
    monotonic: () => 0,
    count: () => {},
    turns: { take: (_: unknown, __: number, work: () => unknown) => work() },
  };
  return { statements, deps: deps as unknown as MailboxReaderDeps };
}

test.each([null, 7])(
  'a connection that closes right after the opening leaves the place (%p)',
  async (uidValidity) => {
    using open = spyOn(ImapMailbox, 'open');
    await using server = await startScriptedImap({});
    const { statements, deps } = servicesOf(server, async () => {
      server.hangUp();
      const mailbox = (await open.mock.results[0]?.value) as ImapMailbox | undefined;
      await mailbox?.changed(60_000).catch(() => {});
    });
    const reader = new MailboxReader(settingsOf(server, { uidValidity, lastUid: 3 }), deps);
    const problem = await reader.run().catch((error: Error) => error.message);
    expect(problem).toBe('closed');
    expect(statements).toEqual([]);
  },
);

test('a mailbox whose server does not name the next UID begins after its last message', async () => {
  await using server = await startScriptedImap({
    EXAMINE: EXAMINED.filter((line) => !line.includes('UIDNEXT')),
    FETCH: ['* 4 FETCH (UID 41)'],
  });
  const { statements, deps } = servicesOf(server);
  const reader = new MailboxReader(settingsOf(server), deps);
  const run = reader.run().catch(() => {});
  await eventually('the place is written', () => statements[0]);
  reader.stop();
  await run;
  expect(statements).toHaveLength(1);
  expect(statements[0]?.slice(2, 4)).toEqual([7, 41]);
});

const GIVEN = [
  '* 5 FETCH (UID 6 RFC822.SIZE 5 INTERNALDATE "01-Jan-2026 00:00:00 +0000" BODY[] {5}\r\nhello)',
];

test.each([
  ['left out after ten failures', 10, 'message', [5, 6], [5, 7, 1], 'MessageUnreadable'],
  ['tried again before', 9, 'message', [5, 6], undefined, 'MessageUnreadable'],
  ['tried again where something else failed', 10, 'unreachable', [5, 6], undefined, 'MessageUnreadable'],
  ['tried again while none comes', 10, 'message', [5, 7], undefined, 'MailboxUnreadable'],
  ['tried again where it is the last one', 10, 'message', [5], undefined, 'MessageUnreadable'],
] as const)(
  'a message at which the server hangs up is %s',
  async (_, failures, problem, uids, passed, error) => {
    await using server = await startScriptedImap({
      'UID FETCH': ({ tag, line, say, hangUp }) => {
        if (line.includes('5:*'))
          return say(...uids.map((uid, at) => `* ${at + 4} FETCH (UID ${uid})`), `${tag} OK`);
        return line.includes('UID FETCH 6 ') ? say(...GIVEN, `${tag} OK done`) : hangUp();
      },
    });
    const { statements, deps } = servicesOf(server);
    const settings = settingsOf(server, { uidValidity: 7, lastUid: 4, failures, problem });
    const reader = new MailboxReader(settings, deps);
    const end = await reader.run().catch((thrown: Error) => thrown.name);
    expect(end).toBe(error);
    expect(statements.map((values) => values.slice(2, 5))[0] as unknown).toEqual(passed);
    expect(reader.hasProgress).toBe(passed !== undefined);
  },
);

test.each([
  ['are counted by themselves', 'unreachable', 10, 1],
  ['go on being counted', 'message', 3, 4],
] as const)('failures at a message %s', async (_, problem, failures, counted) => {
  await using server = await startScriptedImap({
    'UID FETCH': ({ tag, line, say, hangUp }) =>
      line.includes('5:*') ? say('* 4 FETCH (UID 5)', `${tag} OK done`) : hangUp(),
  });
  const { deps } = servicesOf(server);
  const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
  const settings = settingsOf(server, { uidValidity: 7, lastUid: 4, failures, problem });
  const leases = {
    claim: async () => [settings],
    connected: async () => {},
    failed: async (...given: readonly unknown[]) => resolve(given),
    renew: async () => new Set([settings.holder]),
  };
  const keeper = new MailboxKeeper({ ...deps, leases: leases as unknown as MailboxReaderDeps['leases'] }, {
    warn: () => {},
  } as unknown as Logger);
  await keeper.claim();
  expect((await promise).slice(1, 3)).toEqual(['message', counted]);
  await keeper.close();
});

test('a reader that is opening ends when it is stopped', async () => {
  await using server = await startScriptedImap({ EXAMINE: () => {} });
  const reader = new MailboxReader(settingsOf(server), servicesOf(server).deps);
  const run = reader.run().then(
    () => 'read',
    () => 'ended',
  );
  await eventually('the folder is asked for', () => (server.commands.includes('EXAMINE') ? true : undefined));
  reader.stop();
  expect(await run).toBe('ended');
});

test('a reader that waits for DNS ends when it is stopped', async () => {
  await using server = await startScriptedImap({});
  const { deps } = servicesOf(server);
  const hosts = () => ({ addressesOf: () => new Promise<never>(() => {}) });
  const reader = new MailboxReader(settingsOf(server), { ...deps, hosts });
  const run = reader.run().then(
    () => 'read',
    () => 'ended',
  );
  reader.stop();
  expect(await run).toBe('ended');
});

test('a keeper that is closed while it claims leaves what it has got', async () => {
  await using server = await startScriptedImap({});
  const { promise, resolve } = Promise.withResolvers<readonly ClaimedMailbox[]>();
  const left: unknown[] = [];
  const leases = {
    holder: 'holder',
    claim: () => promise,
    leave: async (one: unknown) => void left.push(one),
  };
  const { deps } = servicesOf(server);
  const keeper = new MailboxKeeper(
    { ...deps, leases: leases as unknown as MailboxReaderDeps['leases'] },
    {} as Logger,
  );
  const claimed = keeper.claim();
  await keeper.close();
  resolve([settingsOf(server)]);
  await claimed;
  expect(left).toHaveLength(1);
  expect(keeper.count).toBe(0);
  expect(server.commands).toEqual([]);
});
