import { expect, spyOn, test } from 'bun:test';
import { ImapFlow } from 'imapflow';
import { IMAP_TIMES, ImapMailbox, roomFor } from '../../../src/mail/imap/imap-mailbox.ts';
import type { MailboxUnreadable } from '../../../src/mail/imap/imap-problem.ts';
import { eventually } from '../../support/eventually.ts';
import {
  EXAMINED,
  type ImapScript,
  type ScriptedImap,
  startScriptedImap,
} from '../../support/scripted-imap.ts';

// A server may be anybody's: what it sends takes bounded memory and time.

const NEVER = new AbortController().signal;

/** The reason why the mailbox cannot be read. */
const problemIn = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: MailboxUnreadable) => error.problem,
  );

async function opened(
  script: ImapScript,
  times = {},
): Promise<{ server: ScriptedImap; mailbox: ImapMailbox }> {
  const server = await startScriptedImap(script);
  return { server, mailbox: await ImapMailbox.open(server.account, NEVER, { ...IMAP_TIMES, ...times }) };
}

/** Says the line again and again, 16 MiB at most. */
const flood =
  (row: string): ImapScript[string] =>
  async ({ tag, say }) => {
    const lines = Array<string>(Math.ceil(65_536 / row.length)).fill(row);
    for (let sent = 0; sent < 16 * 1_048_576; sent += lines.length * row.length)
      if (!(await say(...lines))) return;
    await say(`${tag} OK done`);
  };
const rowOf = (uid: number, octets: number): string =>
  `* 1 FETCH (UID ${uid} BODY[] {${octets}}\r\n${'x'.repeat(octets)})`;

test('reads the size and the octets of a message among rows of others', async () => {
  const { server, mailbox } = await opened({
    'UID FETCH': [
      '* 2 FETCH (UID 6 RFC822.SIZE 99)',
      '* 1 FETCH (UID 5 FLAGS (\\Seen))',
      '* 1 FETCH (RFC822.SIZE 5)',
      rowOf(6, 3),
      '* 1 FETCH (UID 5 INTERNALDATE "01-Jan-2026 00:00:00 +0000" BODY[] {5}\r\nhello)',
    ],
  });
  await using _ = server;
  expect(await mailbox.sizeOf(5)).toBe(5);
  expect(await mailbox.sizeOf(7)).toBeNull();
  const message = await mailbox.read(5, roomFor(5), 60_000);
  expect(message).toEqual({ at: Date.UTC(2026, 0, 1), raw: Buffer.from('hello') });
  expect(await mailbox.read(7, roomFor(5), 60_000)).toBeNull();
  mailbox.close();
});

test.each([
  ['small rows', '* 1 FETCH (UID 6 FLAGS (\\Seen))'],
  ['rows of other messages', rowOf(6, 32_768)],
])('does not collect %s that were not asked for', async (_, row) => {
  const { server, mailbox } = await opened({ 'UID FETCH': flood(row) });
  await using __ = server;
  expect(await problemIn(mailbox.sizeOf(5))).toBe('protocol');
  const listed = await opened({ 'UID FETCH': flood(row) });
  await using ___ = listed.server;
  expect(await problemIn(listed.mailbox.uidsAfter(4, null))).toBe('protocol');
});

test('takes no message where it asked for none, and none larger than its stated size', async () => {
  const script = { 'UID FETCH': [rowOf(5, 1_048_576)] };
  const first = await opened(script);
  await using _ = first.server;
  expect(await problemIn(first.mailbox.sizeOf(5))).toBe('protocol');
  const second = await opened(script);
  await using __ = second.server;
  expect(await problemIn(second.mailbox.read(5, roomFor(0), 60_000))).toBe('protocol');
  const third = await opened(script);
  await using ___ = third.server;
  expect((await third.mailbox.read(5, roomFor(1_000_000), 60_000))?.raw).toHaveLength(1_048_576);
});

test.each(['LIST', 'EXAMINE'])('does not collect a flood of lines at %s', async (command) => {
  await using server = await startScriptedImap({ [command]: flood('* LIST () "/" INBOX') });
  expect(await problemIn(ImapMailbox.open(server.account, NEVER))).toBe('protocol');
});

test('leaves a server that sends without end while it waits for news', async () => {
  const { server, mailbox } = await opened({ IDLE: flood('* OK still here') });
  await using _ = server;
  expect(await problemIn(mailbox.changed(60_000))).toBe('protocol');
});

test('goes through no range of deleted messages', async () => {
  const library = ImapFlow.prototype as unknown as { notifyExpunge(): Promise<void> };
  using walked = spyOn(library, 'notifyExpunge');
  const { server, mailbox } = await opened({
    NOOP: ['* VANISHED 1:1000', '* VANISHED (EARLIER) 1:1000'],
    EXAMINE: [...EXAMINED, '* VANISHED (EARLIER) 1:1000'],
  });
  await using _ = server;
  await mailbox.changed(1);
  expect(server.commands).toContain('NOOP');
  expect(walked).not.toHaveBeenCalled();
});

test('leaves a folder of more messages than it can know, at the opening and later', async () => {
  const many = EXAMINED.map((line) => line.replace('4 EXISTS', '2000001 EXISTS'));
  await using server = await startScriptedImap({ EXAMINE: many });
  expect(await problemIn(ImapMailbox.open(server.account, NEVER))).toBe('protocol');
  const later = await opened({ NOOP: ['* 2000001 EXISTS'] });
  await using _ = later.server;
  await later.mailbox.changed(1);
  expect(await problemIn(later.mailbox.uidsAfter(0, null))).toBe('protocol');
});

test('rests where a server tells of news that it has not', async () => {
  let count = 10;
  const tell: ImapScript[string] = ({ tag, line, say }) => {
    const isIdle = line.endsWith('IDLE');
    return say(...(isIdle ? ['+ idling'] : []), `* ${++count} EXISTS`, ...(isIdle ? [] : [`${tag} OK done`]));
  };
  const { server, mailbox } = await opened({ IDLE: tell, NOOP: tell, 'UID FETCH': tell }, { restMs: 100 });
  await using _ = server;
  for (let round = 0; round < 4; round++) {
    expect(await mailbox.uidsAfter(4, null)).toEqual([]);
    // A timer of this process that is due before the rest is over has run by then, on any machine.
    let hasRested = false;
    const timer = setTimeout(() => {
      hasRested = true;
    }, 80);
    await mailbox.changed(60_000);
    clearTimeout(timer);
    expect(hasRested).toBe(true);
  }
  mailbox.close();
});

test('has no folder once the connection is closed', async () => {
  const { server, mailbox } = await opened({});
  await using _ = server;
  expect(mailbox.uidValidity).toBe(7);
  server.hangUp();
  expect(await problemIn(mailbox.changed(60_000))).toBe('closed');
  expect(() => mailbox.uidValidity).toThrow('closed');
  expect(await problemIn(mailbox.lastUid())).toBe('closed');
});

test('refuses a folder without UIDVALIDITY, also when it is opened again', async () => {
  const without = EXAMINED.filter((line) => !line.includes('UIDVALIDITY'));
  await using server = await startScriptedImap({ EXAMINE: without });
  expect(await problemIn(ImapMailbox.open(server.account, NEVER))).toBe('protocol');
  let openings = 0;
  const again = await opened({
    EXAMINE: ({ tag, say }) => say(...(openings++ === 0 ? EXAMINED : without), `${tag} OK done`),
  });
  await using _ = again.server;
  expect(await problemIn(again.mailbox.reopen())).toBe('protocol');
});

test.each(['NO', 'BAD'])('tells an empty folder from a question that is refused with %s', async (word) => {
  const refuse: ImapScript[string] = ({ tag, say }) => say(`${tag} ${word} not now`);
  const { server, mailbox } = await opened({ 'UID FETCH': refuse });
  await using _ = server;
  expect(await problemIn(mailbox.uidsAfter(4, null))).toBe('protocol');
  const searched = await opened({ 'UID SEARCH': refuse });
  await using __ = searched.server;
  expect(await problemIn(searched.mailbox.uidsAfter(0, 1))).toBe('protocol');
});

test('asks nothing about the messages of an empty folder, which some servers refuse', async () => {
  const { server, mailbox } = await opened({
    EXAMINE: EXAMINED.map((line) => line.replace('4 EXISTS', '0 EXISTS')),
    'UID FETCH': ({ tag, say }) => say(`${tag} BAD no messages`),
  });
  await using _ = server;
  expect(await mailbox.uidsAfter(4, null)).toEqual([]);
});

test('finds new messages where a search by UIDs finds none, as at GNU Mailutils', async () => {
  const { server, mailbox } = await opened({
    'UID FETCH': ['* 4 FETCH (UID 9)', '* 3 FETCH (UID 5)', '* 4 FETCH (UID 9)', '* 2 FETCH (UID 4)'],
    'UID SEARCH': ['* SEARCH'],
  });
  await using _ = server;
  expect(await mailbox.uidsAfter(4, null)).toEqual([5, 9]);
});

test('asks by date where the messages have other UIDs, and leaves out older ones afterwards', async () => {
  const dated = (uid: number, day: string) => `* 1 FETCH (UID ${uid} INTERNALDATE "${day} 00:00:00 +0000")`;
  const { server, mailbox } = await opened({
    'UID SEARCH': ['* SEARCH 9 7 9'],
    'UID FETCH': [dated(8, '01-Jan-2026'), dated(9, '05-Jan-2026'), '* 1 FETCH (UID 10)'],
  });
  await using _ = server;
  const since = Date.UTC(2026, 0, 3);
  expect(await mailbox.uidsAfter(0, since)).toEqual([7, 9]);
  expect(await mailbox.uidsAfter(7, since)).toEqual([9, 10]);
});

test('asks for the last UID where a server does not name the next one', async () => {
  const without = EXAMINED.filter((line) => !line.includes('UIDNEXT'));
  // Courier answers `SEARCH UID *` so. Without the last UID, all old messages would be read as new ones.
  const script = { EXAMINE: without, 'UID SEARCH': ['* SEARCH'] };
  const { server, mailbox } = await opened({ ...script, FETCH: ['* 4 FETCH (UID 41)'] });
  await using _ = server;
  expect(await mailbox.lastUid()).toBe(41);
  // A server may tell of other messages before (RFC 9051 7).
  const told = await opened({
    ...script,
    FETCH: ['* 2 FETCH (UID 7)', '* 4 FETCH (FLAGS ())', '* 4 FETCH (UID 41)', '* 5 FETCH (UID 42)'],
  });
  await using _____ = told.server;
  expect(await told.mailbox.lastUid()).toBe(41);
  const gone = await opened(script);
  await using ____ = gone.server;
  expect(await problemIn(gone.mailbox.lastUid())).toBe('protocol');
  const empty = await opened({ EXAMINE: without.map((line) => line.replace('4 EXISTS', '0 EXISTS')) });
  await using __ = empty.server;
  expect(await empty.mailbox.lastUid()).toBe(0);
  const named = await opened({});
  await using ___ = named.server;
  expect(await named.mailbox.lastUid()).toBe(4);
});

test.each(['LOGIN', 'LIST', 'EXAMINE'])(
  'ends an opening at once whose server is silent at %s',
  async (command) => {
    await using server = await startScriptedImap({ [command]: () => {} });
    const stop = new AbortController();
    const opening = problemIn(ImapMailbox.open(server.account, stop.signal));
    await eventually('the command', () => (server.commands.includes(command) ? true : undefined));
    stop.abort();
    expect(await opening).toBe('closed');
    expect(await problemIn(ImapMailbox.open(server.account, stop.signal))).toBe('closed');
  },
);

test('says that a server that is silent at the folder is late, and what of a folder that is refused', async () => {
  await using silent = await startScriptedImap({ EXAMINE: () => {} });
  const times = { ...IMAP_TIMES, silentMs: 100 };
  expect(await problemIn(ImapMailbox.open(silent.account, NEVER, times))).toBe('timeout');
  await using refused = await startScriptedImap({
    EXAMINE: ({ tag, say }) => say(`${tag} NO no such folder`),
  });
  expect(await problemIn(ImapMailbox.open(refused.account, NEVER))).toBe('folder');
});

// Cyrus without `altnamespace`: the folders of a person lie below INBOX, and those of others do not.
const NAMESPACES: ImapScript = {
  CAPABILITY: ['* CAPABILITY IMAP4rev1 IDLE NAMESPACE'],
  NAMESPACE: ['* NAMESPACE (("INBOX." ".")) (("user." ".")) (("" "."))'],
  LIST: [],
};
for (const [folder, there] of [
  ['Support', 'INBOX.Support'],
  ['INBOX.Support', 'INBOX.Support'],
  ['user.support', 'user.support'],
  ['Team', 'Team'],
] as const)
  test(`opens ${there} by the name ${folder}, and opens it again`, async () => {
    await using server = await startScriptedImap({
      ...NAMESPACES,
      EXAMINE: ({ tag, line, say }) =>
        line.endsWith(` EXAMINE ${there}`)
          ? say(...EXAMINED, `${tag} OK done`)
          : say(`${tag} NO Mailbox does not exist`),
    });
    const mailbox = await ImapMailbox.open({ ...server.account, folder }, NEVER);
    await mailbox.reopen();
    expect(mailbox.uidValidity).toBe(7);
    mailbox.close();
  });

test('takes no other folder in place of one that cannot be opened now', async () => {
  await using server = await startScriptedImap({
    ...NAMESPACES,
    EXAMINE: ({ tag, line, say }) =>
      line.endsWith(' EXAMINE INBOX.Support')
        ? say(`${tag} NO [INUSE] Mailbox is locked`)
        : say(...EXAMINED, `${tag} OK done`),
  });
  const opened = ImapMailbox.open({ ...server.account, folder: 'Support' }, NEVER);
  expect(await problemIn(opened)).toBe('folder');
});
