import { afterAll, beforeAll, expect, test } from 'bun:test';
import { compose } from '../../src/mail/compose/compose.ts';
import { finishMessage } from '../../src/mail/compose/finish.ts';
import { textFromHtml } from '../../src/mail/content/text-part.ts';
import { generateDkimKey } from '../../src/mail/dkim/key-pair.ts';
import { loadSigningKey } from '../../src/mail/dkim/signing-key.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { JobTimeout, type PoolWorker } from '../../src/platform/threads/worker-pool.ts';
import { bulkWriter, restsOf, writersRest } from '../../src/sending/emails/bulk/bulk-writer.ts';
import type { WritingBatch, WrittenBatch } from '../../src/sending/emails/bulk/copy-writer.ts';
import { type Copy, outboundMessage, type Sender } from '../../src/sending/emails/send/message.ts';
import type { LiveMessage } from '../../src/sending/emails/send/reader.ts';
import { personaliser } from '../../src/sending/tracking/commands.ts';

const publicUrl = 'https://mail.example';
const signer = createSigner('only-for-tests');
const personalise = personaliser({ signer, publicUrl, textFromHtml });
const warned: unknown[] = [];
const logger = Object.assign(createLogger({ level: 'silent', pretty: false }), {
  warn: (told: unknown) => void warned.push(told),
});
const parts = { signer, publicUrl, personalise, logger, monotonic: () => performance.now() };
const writer = bulkWriter(parts);
let sender: Sender;

beforeAll(async () => {
  const pems = await Promise.all([generateDkimKey('rsa-sha256'), generateDkimKey('ed25519-sha256')]);
  sender = {
    domainId: 'dom_1',
    dkim: pems.map(({ privateKey, algorithm }) =>
      loadSigningKey({ domain: 'sender.example', selector: algorithm.slice(0, 3), pem: privateKey }),
    ),
    returnPath: 'bounces.sender.example',
    receives: true,
    trackingHost: null,
    openTracking: true,
    clickTracking: true,
    provider: null,
    fallbacks: [],
    warmUps: [],
  };
});
afterAll(() => writer.close());

const message = (name: string): LiveMessage => ({
  recipients: ['r@receiver.example'],
  recipient_keys: ['r@receiver.example'],
  domain_id: 'dom_1',
  campaign_id: 'cmp_1',
  audience_id: 'aud_1',
  subject: `Hello ${name}`,
  envelope: {
    from: { name: 'News', address: 'news@sender.example' },
    to: [{ name, address: 'r@receiver.example' }],
    cc: [],
    bcc: [],
    replyTo: [],
    tags: [],
    attachments: [],
    headers: [{ name: 'Precedence', value: 'bulk' }],
    trackOpens: null,
    trackClicks: null,
    size: 100,
    messageId: '<m@sender.example>',
  },
  content: {
    text: null,
    html: `<p>Hi ${name}: <a href="https://shop.example/a">here</a> or <a href="{{ unsubscribeUrl }}">out</a></p>`,
    markdown: null,
    attachments: [],
  },
});
const copy: Copy = {
  destination: { emailId: `em_${'0'.repeat(24)}`, recipient: 0 },
  workspaceId: 'ws_1',
  address: 'r@receiver.example',
  attempt: 1,
  date: 1_700_000_000_000,
  token: 'token',
};

test('copies that a thread has written are those that other mail would be, octet by octet', async () => {
  const names = ['Ada', 'Zoë', 'X'.repeat(2_000), '日本'];
  const written = await Promise.all(
    names.map((name) => writer.write(message(name), copy, sender, 'capture')),
  );
  for (const [index, name] of names.entries()) {
    const own = outboundMessage(message(name), copy, sender, personalise);
    const got = written[index];
    if (!got) throw new Error('It is missing.');
    expect(got.written).toBeDefined();
    expect((await finishMessage(got)).toString()).toBe((await finishMessage(own)).toString());
    expect([got.returnPath, got.isBulk, got.recipients]).toEqual([own.returnPath, true, own.recipients]);
    expect([got.text, got.html, got.unsubscribe]).toEqual([own.text, own.html, own.unsubscribe]);
  }
  expect(warned).toEqual([]);
});

test('copies of one text have their own links, also once the key of links is rotated', async () => {
  let current = signer;
  const rotated = createSigner('another-for-tests');
  const rotating = {
    ...signer,
    get key() {
      return current.key;
    },
  };
  const kept = bulkWriter({ ...parts, signer: rotating });
  const written = new Set<string>();
  for (const [index, by] of [signer, signer, rotated, signer].entries()) {
    current = by;
    const one = { ...copy, destination: { emailId: `em_${String(index).padStart(24, '0')}`, recipient: 0 } };
    const got = await kept.write(message('Ada'), one, sender, 'capture');
    const own = outboundMessage(
      message('Ada'),
      one,
      sender,
      personaliser({ ...parts, signer: by, textFromHtml }),
    );
    expect((await finishMessage(got)).toString()).toBe((await finishMessage(own)).toString());
    written.add((await finishMessage(got)).toString());
  }
  kept.close();
  expect(written.size).toBe(4);
});

test('an absent text and an empty one are no one text', async () => {
  const html = '<p>Hi</p>';
  for (const text of [null, '', '0 ', null]) {
    const { content, ...rest } = message('Ada');
    const one = { ...rest, content: { ...content, text, html } };
    const got = await writer.write(one, copy, sender, 'capture');
    const own = outboundMessage(one, copy, sender, personalise);
    expect((await finishMessage(got)).toString()).toBe((await finishMessage(own)).toString());
  }
});

test('what Amazon signs by itself is composed and not signed', async () => {
  const got = await writer.write(message('Ada'), copy, sender, 'ses');
  const own = outboundMessage(message('Ada'), copy, sender, personalise);
  expect(got.written?.signatures).toBeNull();
  expect((await compose(got)).toString()).toBe((await compose(own)).toString());
  expect((await finishMessage(got)).toString()).toBe((await finishMessage(own)).toString());
});

test('where no thread writes, the copy is written here', async () => {
  const without = bulkWriter(parts, () => {
    throw new Error('No thread starts.');
  });
  const got = await without.write(message('Ada'), copy, sender, 'capture');
  const own = outboundMessage(message('Ada'), copy, sender, personalise);
  expect(got.written).toBeUndefined();
  expect((await finishMessage(got)).toString()).toBe((await finishMessage(own)).toString());
  expect(warned).toHaveLength(1);
});

test('one copy that cannot be written keeps none of its batch from being written', async () => {
  const bad = message('Bad');
  const broken = { ...bad, envelope: { ...bad.envelope, messageId: null as unknown as string } };
  const outcomes = await Promise.allSettled(
    [message('Ada'), broken, message('Eve')].map((one) => writer.write(one, copy, sender, 'capture')),
  );
  const isWritten = outcomes.map((one) => one.status === 'fulfilled' && one.value.written !== undefined);
  expect([isWritten[0], isWritten[2]]).toEqual([true, true]);
});

test('a copy that takes a thread too long is never written by the thread that answers requests', async () => {
  const asked: number[] = [];
  const slow = (): PoolWorker<WritingBatch, WrittenBatch> => {
    const worker = {
      gone: Promise.resolve(),
      next: async () => ({ ready: null }),
      end() {},
      async ask({ jobs }: WritingBatch) {
        asked.push(jobs.length);
        if (jobs.some(({ message: { subject } }) => subject === 'Hello Slow'))
          throw new JobTimeout('Too long.');
        const lengths = jobs.map(() => ({ signatures: 0, composed: 1 }));
        return { answer: { octets: new Uint8Array(jobs.length), lengths, library: null } };
      },
    };
    return worker as unknown as PoolWorker<WritingBatch, WrittenBatch>;
  };
  const fresh = bulkWriter({ ...parts, personalise: () => expect.unreachable() }, slow);
  const outcomes = await Promise.allSettled(
    ['Ada', 'Slow', 'Eve'].map((name) => fresh.write(message(name), copy, sender, 'capture')),
  );
  fresh.close();
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: expect.any(JobTimeout) });
  expect(asked.filter((count) => count === 1).length).toBeGreaterThanOrEqual(1);
});

test('a thread has the next batch before it has answered one', async () => {
  let batches = 0;
  const second = Promise.withResolvers<void>();
  const answering = {
    gone: Promise.resolve(),
    next: async () => ({ ready: null }),
    end() {},
    async ask({ jobs }: WritingBatch) {
      if (++batches === 2) second.resolve();
      await second.promise;
      const lengths = jobs.map(() => ({ signatures: 0, composed: 1 }));
      return { answer: { octets: new Uint8Array(jobs.length), lengths, library: null } };
    },
  };
  const fresh = bulkWriter(parts, () => answering as unknown as PoolWorker<WritingBatch, WrittenBatch>);
  const copies = Array.from({ length: 64 }, () => fresh.write(message('Ada'), copy, sender, 'capture'));
  expect((await Promise.all(copies)).every(({ written }) => written !== undefined)).toBe(true);
  fresh.close();
});

test('while other mail is about, the threads rest twice as long as a batch took, half a second at most', () => {
  expect(writersRest(40, 0, 2)).toBe(80);
  expect(writersRest(40, 999, 2)).toBe(80);
  expect(writersRest(7_000, 0, 2)).toBe(500);
  expect(writersRest(40, 1_000, 2)).toBe(0);
  expect(writersRest(40, Number.POSITIVE_INFINITY, 2)).toBe(0);
});

test('threads that have less than half of the cores rest less', () => {
  expect([restsOf(1, 1), restsOf(1, 2), restsOf(4, 8)]).toEqual([2, 2, 2]);
  expect([restsOf(4, 16), restsOf(4, 64)]).toEqual([1, 0.25]);
  expect(writersRest(41, 0, 0.25)).toBe(11);
});

test('copies are written while other mail is about, batch after batch', async () => {
  const fresh = bulkWriter(parts);
  fresh.otherCame();
  const all = await Promise.all(
    Array.from({ length: 70 }, () => fresh.write(message('Ada'), copy, sender, 'capture')),
  );
  expect(all.filter(({ written }) => written !== undefined)).toHaveLength(70);
  fresh.close();
});
