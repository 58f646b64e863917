import { afterEach, describe, expect, test } from 'bun:test';
import { readReport } from '../../../src/mail/inbound/read-report.ts';
import { NotSubmittable } from '../../../src/mail/raw/raw-mail.ts';
import { readParts } from '../../../src/mail/reading/mail-parts.ts';
import {
  createMailReader,
  type MailReader,
  type ReaderLimits,
} from '../../../src/mail/reading/mail-reader.ts';
import { UnavailableError } from '../../../src/platform/errors/unavailable.ts';
import { eventually } from '../../support/eventually.ts';
import { leastStall, longestStall } from '../../support/own-time.ts';
import { dsn, POSTFIX } from './reports.ts';

const open: MailReader[] = [];
const readerWith = (limits: Partial<ReaderLimits> = {}): MailReader => {
  const reader = createMailReader(limits);
  open.push(reader);
  return reader;
};
afterEach(() => {
  for (const reader of open.splice(0)) reader.close();
});

const OWNER = 'ws_1';
const TO = ['b+token-1@bounces.sender.example'];
const MIXED = 'From: a@b.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n';
const parts = (count: number): Buffer => Buffer.from(MIXED + '--b\r\n\r\nx\r\n'.repeat(count));
// With a letter in its header that the parser reads, which takes a promise for each line; a usual text is
// read without it.
const lines = (count: number): Buffer => Buffer.from(`From: Zoë <a@b.example>\r\n\r\n${'\n'.repeat(count)}`);
/** Less than the largest mails take that are read at all, and many times what a small one does. */
const HURRIED = { threads: 1, deadlineMs: 300, startMs: 10_000, mostWaiting: 1, idleMs: 60_000 };

describe('the mail reader thread', () => {
  test('reads a mail as a report, a submission, and its parts', async () => {
    const reader = readerWith();
    expect(await reader.report(dsn({ status: POSTFIX }), TO)).toMatchObject([
      { kind: 'bounced', reference: { token: 'token-1' } },
    ]);
    const mail = Buffer.from('From: a@b.example\r\nSubject: Hi\r\n\r\nGrüße\r\n');
    expect(await reader.submission(mail, ['c@d.example'], OWNER)).toMatchObject({
      octets: new Uint8Array(mail),
      from: [{ name: null, address: 'a@b.example' }],
      subject: 'Hi',
      text: 'Grüße\n',
    });
    const templated = Buffer.from('From: a@b.example\r\nX-Svc-Template: hello\r\n\r\nx\r\n');
    expect(await reader.submission(templated, ['c@d.example'], OWNER)).toMatchObject({
      email: { from: 'a@b.example', to: ['c@d.example'], templateId: 'hello' },
    });
    expect(await reader.submission(Buffer.from('Subject: Hi\r\n\r\nx'), ['c@d.example'], OWNER)).toEqual(
      new NotSubmittable(expect.stringContaining('has no From field')),
    );
    expect(await reader.parts(mail, OWNER)).toEqual({
      headers: [
        { name: 'From', value: 'a@b.example' },
        { name: 'Subject', value: 'Hi' },
      ],
      text: 'Grüße\n',
      html: null,
      attachments: [],
    });
  });

  test('leaves the main thread free while it reads a costly mail', async () => {
    const reader = readerWith();
    await Promise.all([reader.report(dsn({ status: POSTFIX }), TO), reader.parts(lines(1), OWNER)]);
    // Measured beside it, since a busy machine takes longer for either: 300 ms and half a second where
    // nothing else runs.
    const report = await longestStall(() => readReport(parts(9_000), TO));
    const split = await longestStall(() => readParts(lines(400_000)));
    const enough = Math.min(report, split) / 2;
    const stall = await leastStall(enough, () =>
      Promise.all([reader.report(parts(9_000), TO), reader.parts(lines(400_000), OWNER)]),
    );
    expect(stall).toBeLessThan(enough);
  });
});

describe('a mail beyond the limits of the reader', () => {
  test('is given up early, and shown with the fields of its header', async () => {
    // Whatever has to wait for a thread of theirs is unavailable at once.
    const reader = readerWith({});
    expect(await reader.report(parts(800_000), TO)).toEqual([]);
    expect(await reader.parts(parts(800_000), OWNER)).toBeNull();
    // The thread takes the memory of a submission.
    expect(await reader.submission(parts(800_000), TO, OWNER)).toMatchObject({
      from: [{ address: 'a@b.example' }],
      text: 'x\n',
      index: { attachments: [] },
    });
    expect(await reader.submission(lines(25_000_000), TO, OWNER)).toEqual(
      new NotSubmittable('The message has more than 25 MiB once its lines are those of SMTP', '5.3.4'),
    );
    for (const make of [() => parts(800_000), () => lines(25_000_000)])
      expect(await reader.received(make(), OWNER)).toMatchObject({
        from: { address: 'a@b.example' },
        attachments: [],
      });
  });

  test('is given up at the deadline, and the next one is read', async () => {
    const reader = readerWith({ reports: HURRIED, own: HURRIED, received: HURRIED });
    await Promise.all([reader.report(dsn({ status: POSTFIX }), TO), reader.parts(lines(1), OWNER)]);
    expect(await reader.parts(lines(999_000), OWNER)).toBeNull();
    const received = await reader.received(lines(999_000), OWNER);
    expect(received).toMatchObject({ from: { name: 'Zoë', address: 'a@b.example' }, text: null });
    expect(await reader.submission(lines(999_000), TO, OWNER)).toBeInstanceOf(NotSubmittable);
    const next = await eventually(
      'the next one',
      async () => (await reader.parts(lines(1), OWNER)) ?? undefined,
    );
    expect(next.headers.length).toBe(1);
  });
});

test('the mail reader refuses more waiting mails than its limit', async () => {
  const reader = readerWith({ own: HURRIED });
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => reader.parts(lines(1), OWNER)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(outcomes[2]?.status === 'rejected' && outcomes[2].reason).toBeInstanceOf(UnavailableError);
});

describe('mail of one workspace', () => {
  test('takes turns with that of others where there is one thread', async () => {
    const reader = readerWith({ own: { ...HURRIED, deadlineMs: 15_000, mostWaiting: 256 } });
    const order: string[] = [];
    const read = (owner: string) => reader.parts(lines(1), owner).then(() => order.push(owner));
    await Promise.all([...Array.from({ length: 6 }, () => read('ws_many')), read('ws_one'), read('ws_two')]);
    expect(order.slice(0, 4)).toEqual(['ws_many', 'ws_one', 'ws_two', 'ws_many']);
  });

  test('has half of the places to wait at most, and what is too much is unavailable', async () => {
    const reader = readerWith({ own: { ...HURRIED, deadlineMs: 15_000, mostWaiting: 4 } });
    const asked = Array.from({ length: 5 }, () => reader.parts(lines(1), 'ws_many'));
    const other = reader.parts(lines(1), 'ws_one');
    const outcomes = await Promise.allSettled(asked);
    const isRead = outcomes.map(({ status }) => status === 'fulfilled');
    expect(isRead).toEqual([true, true, true, false, false]);
    expect((await other)?.headers.length).toBe(1);
  });
});

test('a closed mail reader rejects all waiting mails', async () => {
  const reader = readerWith();
  const waiting = Promise.allSettled([
    reader.parts(lines(1), OWNER),
    reader.report(dsn({ status: POSTFIX }), TO),
  ]);
  reader.close();
  for (const outcome of await waiting)
    expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(UnavailableError);
});
