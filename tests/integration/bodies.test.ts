import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { OutboundMessage, RecipientOutcome, Transport } from '../../src/mail/transport/transport.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { noise } from '../support/noise.ts';
import { type S3, startS3 } from '../support/s3.ts';
import { startService, TEST_KEY } from '../support/service.ts';

const MINUTE = 60_000;

const fileOf = (content: Buffer, filename = 'file.bin') => ({
  filename,
  content: content.toString('base64'),
});

/** Takes everything and keeps it. */
class Keeping implements Transport {
  readonly name = 'smtp';
  readonly confirmsDelivery = true;
  readonly taken = new Map<string, OutboundMessage>();

  async send(message: OutboundMessage): Promise<readonly RecipientOutcome[]> {
    this.taken.set(message.emailId, message);
    return message.recipients.map((recipient) => ({
      recipient,
      outcome: 'accepted',
      smtpCode: 250,
      enhancedCode: null,
      response: '250 ok',
      remoteMta: null,
      fault: null,
      subType: null,
      providerId: null,
    }));
  }

  async verify() {
    return [];
  }

  async close() {}
}

/** A late read is repeated; a late write is refused, so that a busy machine gets longer for it. */
const BODIES = { writeMs: 3_000, readMs: 500 };

const transport = new Keeping();
let s3: S3;
let service: LiveService;
beforeAll(async () => {
  s3 = await startS3();
  service = await startLiveService({
    transport,
    environment: s3.environment,
    bodies: BODIES,
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const delivered = (id: string) => service.until(id, ({ status }) => status === 'delivered');
const contentOctets = async (id: string): Promise<number> => {
  const [row] = await service.service.database.query<{ octets: number }>(
    'select octet_length(content)::integer as octets from emails where id = $1',
    [id],
  );
  return row?.octets ?? 0;
};
const later = (ms: number) => new Date(Date.now() + ms).toISOString();
const asked = (more: object) => ({
  from: 'shop@sender.example',
  to: 'ada@example.com',
  subject: 'Yours',
  text: 'Here.',
  ...more,
});

test('large attachments lie in the bucket and leave as they came; small ones stay in the row', async () => {
  const [one, two, small] = [noise(100_000, 1), Buffer.alloc(300_000, 'catalogue '), Buffer.from('small')];
  const before = (await s3.keys('live/')).length;
  const id = await service.send({
    html: '<p>Here.</p>',
    attachments: [fileOf(one), fileOf(small, 'small.txt'), fileOf(two, 'catalogue.txt')],
  });
  await delivered(id);
  expect((await s3.keys('live/')).length - before).toBe(2);
  expect(await contentOctets(id)).toBeLessThan(1_000);
  const sent = transport.taken.get(id);
  expect(sent?.attachments.map(({ content }) => Buffer.compare(content, one))[0]).toBe(0);
  expect(sent?.attachments.map(({ content }) => content.length)).toEqual([100_000, 5, 300_000]);
  expect(sent?.attachments[1]?.content.toString()).toBe('small');
  const { data } = (await service.live.get(`/v1/emails/${id}`)).body;
  expect([data.html, data.attachments.map(({ size }: { size: number }) => size)]).toEqual([
    '<p>Here.</p>',
    [100_000, 5, 300_000],
  ]);
});

test('a large html lies in the bucket, and is shown as it came', async () => {
  const html = `<p>${noise(60_000, 2).toString('base64')}</p>`;
  const before = (await s3.keys('live/')).length;
  const id = await service.send({ html });
  await delivered(id);
  expect((await s3.keys('live/')).length - before).toBe(1);
  expect(await contentOctets(id)).toBeLessThan(1_000);
  expect((await service.live.get(`/v1/emails/${id}`)).body.data.html).toBe(html);
  expect(transport.taken.get(id)?.html).toBe(html);
});

test('what many emails of a day have in common is stored once, and nothing of small ones', async () => {
  const file = noise(90_000, 3);
  const before = (await s3.keys()).length;
  await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      service.send({ text: `Number ${at}`, attachments: [fileOf(file)] }),
    ),
  );
  await service.send({ attachments: [fileOf(Buffer.alloc(20_000, 'x'))] });
  expect((await s3.keys()).length - before).toBe(1);
});

test('test mail lies under a separate prefix', async () => {
  const begun = later(0);
  const asking = asked({ attachments: [fileOf(noise(80_000, 4))] });
  expect((await insisting(service.test).post('/v1/emails', asking)).status).toBe(202);
  const keys = await s3.keys('test/');
  expect(keys).toHaveLength(1);
  const [, day, workspace] = keys[0]?.split('/') ?? [];
  // Midnight may come in between.
  expect([begun, later(0)].map((moment) => moment.slice(0, 10))).toContain(day as string);
  expect(workspace).toStartWith('ws_');
});

test('a store that does not answer is 503 with Retry-After, nothing is accepted, and small mail goes on', async () => {
  s3.relay.freeze();
  try {
    const refused = await service.live.post('/v1/emails', asked({ attachments: [fileOf(noise(80_000, 5))] }));
    expect([refused.status, refused.body.error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await delivered(await service.send());
  } finally {
    s3.relay.thaw({ dead: true });
  }
  s3.relay.cut();
  // A store that failed more than once is left alone for a moment, which a client sees as 503 as well.
  const again = await eventually('the store is tried again', async () => {
    const attachments = [fileOf(noise(80_000, 5))];
    const told = await service.live.post('/v1/emails', asked({ attachments }));
    return told.status === 202 ? told : undefined;
  });
  await delivered(again.body.data.id);
});

test('an email whose content cannot be read now is put off, and no attempt is counted', async () => {
  // It warns once a minute, and nothing else that is late may have been before this.
  await using own = await startLiveService({ transport, environment: s3.environment, bodies: BODIES });
  const file = noise(80_000, 6);
  const id = await own.send({ scheduledAt: later(MINUTE), attachments: [fileOf(file)] });
  s3.relay.freeze();
  try {
    await own.pass(2 * MINUTE);
    await eventually('an attempt could not be prepared', () =>
      own.logged().includes(`"actor":"${id}"`) && own.logged().includes('could not be prepared')
        ? true
        : undefined,
    );
    const waiting = await own.service.database.query<{ state: string; attempt: number }>(
      `select state, (context->>'attempt')::integer as attempt from emails_now where id = $1`,
      [id],
    );
    expect(waiting).toEqual([{ state: 'queued', attempt: 0 }]);
  } finally {
    s3.relay.thaw({ dead: true });
    s3.relay.cut();
  }
  await own.until(id, ({ status }) => status === 'delivered');
  expect(file.equals(transport.taken.get(id)?.attachments[0]?.content as Uint8Array)).toBe(true);
});

const bodyKeysOf = async (id: string): Promise<readonly string[]> =>
  (
    await service.service.database.query<{ key: string }>(
      'select key from email_bodies where email_id = $1',
      [id],
    )
  ).map(({ key }) => key);

test('damaged or missing content is reported, retried, and leaves once it is there again', async () => {
  const file = noise(80_000, 7);
  const id = await service.send({ scheduledAt: later(5 * MINUTE), attachments: [fileOf(file)] });
  const [key = ''] = await bodyKeysOf(id);
  const never = new AbortController().signal;
  const whole = await s3.bucket.get(key, 1_000_000, never);
  await s3.overwrite(key, 'torn');
  await service.pass(10 * MINUTE);
  const first = await service.until(id, ({ status }) => status === 'deferred');
  expect(first.status).toBe('deferred');
  const explained = async () =>
    JSON.stringify((await service.live.get(`/v1/emails/${id}/explain`)).body.data);
  expect(await explained()).toContain('Its content in BODY_STORE is not what was written there');
  await s3.bucket.delete(key, never);
  await service.pass(10 * MINUTE);
  await eventually('it is reported as missing', async () =>
    (await explained()).includes('Its content is not in BODY_STORE') ? true : undefined,
  );
  expect((await service.live.get(`/v1/emails/${id}`)).body.data.text).toBe('It is on its way.');
  await s3.bucket.put(key, whole as Uint8Array<ArrayBuffer>, '', never);
  await service.pass(60 * MINUTE);
  await delivered(id);
  expect(file.equals(transport.taken.get(id)?.attachments[0]?.content as Uint8Array)).toBe(true);
});

test('with the embedded database as well', async () => {
  await using own = await startService({ env: { ...s3.environment, BODY_STORE: 's3://bodies/embedded' } });
  const client = createClient(own.url, TEST_KEY);
  const html = `<p>${noise(60_000, 8).toString('base64')}</p>`;
  const sent = await client.post('/v1/emails', asked({ html, attachments: [fileOf(noise(80_000, 8))] }));
  expect(sent.status).toBe(202);
  expect((await client.get(`/v1/emails/${sent.body.data.id}`)).body.data.html).toBe(html);
});

test('a key that was revoked brings nothing into the bucket, also when what it sends grows large only here', async () => {
  const { key: owner, url } = { key: service.keys.live, url: service.url };
  const made = await createClient(url, owner).post('/v1/api-keys', {
    name: 'K',
    env: 'live',
    permissions: ['emails:send'],
  });
  const template = await service.live.post('/v1/templates', {
    name: 'Large',
    subject: 'S',
    html: `<p>{{ once }}</p><p>${noise(100_000, 7).toString('base64')}</p>`,
  });
  expect([made.status, template.status]).toEqual([201, 201]);
  const client = createClient(url, made.body.data.key);
  const send = (once: string) =>
    client.post('/v1/emails', {
      from: 'shop@sender.example',
      to: 'ada@example.com',
      templateId: template.body.data.id,
      variables: { once },
    });
  expect((await send('first')).status).toBe(202);
  const before = await s3.keys('live/');
  expect((await service.live.delete(`/v1/api-keys/${made.body.data.id}`)).status).toBe(200);
  expect((await send('second')).status).toBe(401);
  expect(await s3.keys('live/')).toEqual(before);
});
