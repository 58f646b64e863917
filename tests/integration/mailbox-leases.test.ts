import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { patchMailbox } from '../../src/sending/mailboxes/commands.ts';
import { mailboxInsertRule } from '../../src/sending/mailboxes/insert-rule.ts';
import { Leases } from '../../src/sending/mailboxes/leases.ts';
import { beginAt, MailboxLost, pass } from '../../src/sending/mailboxes/places.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';

let served: TestDatabase;
let database: Database;
beforeAll(async () => {
  served = await createTestDatabase();
  database = await openDatabase({ url: served.url, dataDir: null });
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ('ws_1', 'One', 'growth', now())`,
  );
});
afterAll(async () => {
  await database.close();
  await served.close();
});

const SECRET = 's'.repeat(32);
const now = () => Date.now();

async function claimed(id: string) {
  await database.query(
    `insert into mailboxes (id, workspace_id, livemode, host, port, security, username, folder, is_paused, sealed,
      state, state_at, failures, next_at, last_uid, taken, skipped, created_at, updated_at)
    values ($1, 'ws_1', true, 'imap.example.com', 993, 'tls', 'ada', 'INBOX', false, '',
      'waiting', now(), 0, now() - interval '1 minute', 0, 0, 0, date_trunc('second', now()), date_trunc('second', now()))`,
    [id],
  );
  const leases = new Leases(database, now);
  const [settings] = await leases.claim(10);
  if (settings?.id !== id) throw new Error('It is not claimed.');
  return { leases, settings };
}

const patch = (id: string, body: object) =>
  patchMailbox(
    {
      database,
      sealer: createSealer(SECRET),
      signer: createSigner(SECRET),
      changed: () => {},
      hosts: () => ({ problemOfHost: async () => null }),
    },
    {
      params: { id },
      body,
      now: now(),
      claim: null,
      caller: { workspaceId: 'ws_1', livemode: true },
    } as unknown as Parameters<typeof patchMailbox>[1],
  );

const rowOf = async (id: string) =>
  (
    await database.query<{ state: string; validity: number | null; isDue: boolean }>(
      `select state, uid_validity::integer as validity, next_at <= now() + interval '1 second' as "isDue" from mailboxes where id = $1`,
      [id],
    )
  )[0];

test('a reader of settings that have changed since notes nothing', async () => {
  const { leases, settings } = await claimed('mbx_changed');
  expect(await leases.renew([settings.holder])).toEqual(new Set([settings.holder]));
  await patch(settings.id, { password: 'the right one' });
  // This instance reads it again, or another one does.
  const [later] = await leases.claim(10);
  expect(later?.id).toBe(settings.id);
  await leases.failed(settings, 'login', 1, 300_000);
  await leases.leave(settings);
  await leases.connected(settings);
  await expect(beginAt(database, settings, 7, { lastUid: 5, now: now() })).rejects.toThrow(MailboxLost);
  expect(await rowOf(settings.id)).toEqual({ state: 'waiting', validity: null, isDue: true });
  const holders = [settings.holder, later?.holder ?? ''];
  expect(await leases.renew(holders)).toEqual(new Set([later?.holder ?? '']));
});

test('a message of an archived workspace is not passed', async () => {
  const { settings } = await claimed('mbx_archived');
  await beginAt(database, settings, 7, { lastUid: 5, now: now() });
  const place = { id: settings.id, holder: settings.holder, uidValidity: 7, uid: 6 };
  await database.query(`update workspaces set archived_at = now() where id = 'ws_1'`);
  await expect(pass(database, place, { skipped: 1 })).rejects.toThrow(MailboxLost);
  await database.query(`update workspaces set archived_at = null where id = 'ws_1'`);
  await pass(database, place, { skipped: 1 });
});

test('a message is stored by who holds its mailbox, of the UIDs that it has, once', async () => {
  const { settings } = await claimed('mbx_stored');
  await beginAt(database, settings, 7, { lastUid: 5, now: now() });
  const [condition] = mailboxInsertRule.conditions ?? [];
  const isAdmitted = async (holder: string, uidValidity: number, uid: number): Promise<boolean> => {
    const rows = await database.query(
      `with given as (
        select 0 as ord, $1::text as mailbox_id, $2::text as mailbox_holder, $3::bigint as mailbox_validity, $4::bigint as mailbox_uid
      ) ${condition?.sql('given')}`,
      [settings.id, holder, uidValidity, uid],
    );
    return rows.length === 1;
  };
  expect(await isAdmitted(settings.holder, 7, 6)).toBeTrue();
  expect(await isAdmitted('another', 7, 6)).toBeFalse();
  expect(await isAdmitted(settings.holder, 8, 6)).toBeFalse();
  expect(await isAdmitted(settings.holder, 7, 5)).toBeFalse();
  await database.query('update mailboxes set is_paused = true where id = $1', [settings.id]);
  expect(await isAdmitted(settings.holder, 7, 6)).toBeFalse();
});
