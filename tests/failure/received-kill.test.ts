import { expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { aMail, handOver } from '../integration/received-door.ts';
import { SmtpClient } from '../integration/transport/smtp-client.ts';
import { createClient } from '../support/client.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, startService } from '../support/service.ts';

const SENDERS = 8;
/** Messages that are answered before the process dies. */
const BEFORE = 60;
const TO = ['support@acme.example', 'sales@acme.example'];

test('kill -9 while mail comes in: what was answered 250 is stored once, and what comes again as well', async () => {
  await using made = await createTestDatabase();
  const port = await freePort();
  const env = {
    DATABASE_URL: made.url,
    SECRET_KEY: 's'.repeat(32),
    INBOUND_SMTP_PORT: String(port),
    DEFAULT_PLAN: 'unlimited',
  };
  const handed = new Map<string, string>();
  const stored = new Set<string>();
  {
    await using service = await startService({ env });
    const live = createClient(service.url, LIVE_KEY);
    const domain = await live.post('/v1/domains', { name: 'acme.example' });
    const route = { domainId: domain.body.data.id, match: { type: 'catchAll' }, action: { type: 'keep' } };
    expect((await live.post('/v1/inbound-routes', route)).status).toBe(201);
    let killed: Promise<unknown> | null = null;
    const send = async () => {
      const client = await SmtpClient.open(port);
      const { ended } = client;
      await client.say('EHLO client.example');
      while (killed === null) {
        const id = `<${crypto.randomUUID()}@customer.example>`;
        const raw = aMail({ 'Message-ID': id });
        handed.set(id, raw);
        const replies = await Promise.race([handOver(client, 'ada@customer.example', TO, raw), ended]);
        if (!Array.isArray(replies)) return;
        expect(replies.at(-1)).toStartWith('250 ');
        stored.add(id);
        if (stored.size === BEFORE) killed = service.kill();
      }
      client.end();
    };
    await Promise.all(Array.from({ length: SENDERS }, () => send().catch(() => {})));
    await killed;
  }
  expect(stored.size).toBeGreaterThanOrEqual(BEFORE);
  const database = await openDatabase({ url: made.url, dataDir: null });
  /** The recipients that have each message. */
  const rows = async () => {
    const found = await database.query<{ id: string; to: string; whole: boolean }>(
      `select r.summary ->> 'messageId' as id, r.recipient as to, c.id is not null as whole
       from received r left join received_contents c on c.id = r.content_id`,
    );
    expect(found.filter(({ whole }) => !whole)).toEqual([]);
    return Map.groupBy(found, ({ id }) => id);
  };
  const after = await rows();
  for (const id of stored)
    expect(
      after
        .get(id)
        ?.map(({ to }) => to)
        .toSorted(),
    ).toEqual(TO.toSorted());
  // Of what was not answered each message is there for all of its recipients, or for none.
  for (const [id, found] of after) expect([id, found.length]).toEqual([id, TO.length]);
  {
    await using _ = await startService({ env });
    const client = await SmtpClient.open(port);
    await client.say('EHLO client.example');
    for (const raw of handed.values())
      expect((await handOver(client, 'ada@customer.example', TO, raw)).at(-1)).toStartWith('250 ');
    client.end();
  }
  const again = await rows();
  expect(again.size).toBe(handed.size);
  for (const [id, found] of again) expect([id, found.length]).toEqual([id, TO.length]);
  await database.close();
});
