import { expect, test } from 'bun:test';
import { openDatabase } from '../../src/platform/db/open.ts';
import { aMail } from '../integration/received-door.ts';
import { createClient } from '../support/client.ts';
import { dovecotMissing, startDovecot } from '../support/dovecot.ts';
import { eventually } from '../support/eventually.ts';
import { PASSWORD } from '../support/imap-server.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, startService } from '../support/service.ts';

const MESSAGES = 240;
const missing = dovecotMissing();
if (missing !== null) console.log(`Not shown here, since ${missing}: kill -9 while a mailbox is read.`);

test.if(missing === null)(
  'kill -9 while a mailbox is read: other instances go on, and each message is stored once',
  async () => {
    await using made = await createTestDatabase();
    await using dovecot = await startDovecot(['support']);
    const env = {
      DATABASE_URL: made.url,
      SECRET_KEY: 's'.repeat(32),
      DEFAULT_PLAN: 'unlimited',
      TLS_CA_FILE: dovecot.ca,
      HOST: '127.0.0.1',
    };
    const database = await openDatabase({ url: made.url, dataDir: null });
    const stored = async (): Promise<readonly string[]> =>
      (await database.query<{ id: string }>(`select summary ->> 'messageId' as id from received`)).map(
        ({ id }) => id,
      );
    const mailbox = async () =>
      (
        await database.query<{ holder: string | null; state: string; last: number; next: number }>(
          `select holder, state, last_uid::integer as last, taken::integer as next from mailboxes`,
        )
      )[0];
    const until = (count: number) =>
      eventually(`${count} messages`, async () => ((await stored()).length >= count ? true : undefined), {
        withinMs: 180_000,
        everyMs: 20,
      });
    /** Of an instance that is gone no one waits for the lease here. */
    const expire = () => database.query(`update mailboxes set held_until = now() - interval '1 second'`);

    const first = await startService({ env });
    const live = createClient(first.url, LIVE_KEY);
    const domain = await live.post('/v1/domains', { name: 'acme.example' });
    const route = { domainId: domain.body.data.id, match: { type: 'catchAll' }, action: { type: 'keep' } };
    expect((await live.post('/v1/inbound-routes', route)).status).toBe(201);
    const settings = { host: 'localhost', port: dovecot.tlsPort, username: 'support', password: PASSWORD };
    expect((await live.post('/v1/mailboxes', settings)).status).toBe(201);
    await eventually('it is open', async () => ((await mailbox())?.state === 'connected' ? true : undefined));
    await using second = await startService({ env });
    const held = (await mailbox())?.holder;
    const ids = Array.from({ length: MESSAGES }, () => `<${crypto.randomUUID()}@customer.example>`);
    const adding = dovecot.append(
      'support',
      ids.map((id) => aMail({ To: 'support@acme.example', 'Message-ID': id })),
    );
    await until(MESSAGES / 4);
    expect((await mailbox())?.holder).toBe(held ?? '');
    await first.kill();
    await expire();
    // The first one may have stored half of them before it died.
    await eventually('another instance has it', async () => {
      const { holder = null } = (await mailbox()) ?? {};
      return (holder !== null && holder !== held) || undefined;
    });
    await until(MESSAGES / 2);
    await second.kill();
    await using _third = await startService({ env });
    await expire();
    await adding;
    await until(MESSAGES);
    expect((await stored()).toSorted()).toEqual(ids.toSorted());
    // The place is noted with the message: what was stored is passed, and what is passed was stored.
    const { last, next } = (await mailbox()) ?? {};
    expect([last, next]).toEqual([MESSAGES, MESSAGES]);
    const contents = await database.query(
      'select 1 as one from received_contents c join received r on r.content_id = c.id',
    );
    expect(contents).toHaveLength(MESSAGES);
    await first[Symbol.asyncDispose]();
    await database.close();
  },
);
