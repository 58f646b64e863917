import { expect, test } from 'bun:test';
import { createSealer } from '../../src/crypto/sealer.ts';
import type { Draft } from '../../src/engine/draft.ts';
import { enqueue, serviceEmailSender } from '../../src/modules/service-emails/queue.ts';
import { warningOf } from '../../src/modules/service-emails/watch.ts';
import { countOf, ManualClock } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const MINUTE = 60_000;
const WARNING = { kind: 'domainLost', workspaceId: 'ws_w', domain: '<acme>.example' } as const;

onEachStore('emails of the service', (store) => {
  const clock = new ManualClock(NOW);
  const sent: { to: string; html: string; text: string }[] = [];
  const outcomes: string[] = [];
  const warned: string[] = [];
  const logger = { debug: () => {}, warn: (said: { outcome: string }) => warned.push(said.outcome) };
  const deps = () => ({
    ...{ database: store.database, clock, sealer: createSealer('only-for-tests'), logger: logger as never },
    publicUrl: 'https://mail.example.com',
    send: async (message: (typeof sent)[number]) => {
      sent.push(message);
      return (outcomes.shift() ?? 'accepted') as 'accepted';
    },
  });
  const run = async () => {
    sent.length = 0;
    await serviceEmailSender(deps()).run();
    return sent.map(({ to }) => to).sort();
  };

  test('warn every owner and admin, are tried again later, and end', async () => {
    await store.database.query(
      `insert into workspaces (id, name, plan, created_at) values ('ws_w', 'A & B', 'free', now())`,
    );
    for (const [name, role] of Object.entries({
      owner: 'owner',
      admin: 'admin',
      other: 'member',
      reader: 'viewer',
    })) {
      await store.database.query(
        `insert into accounts (id, email, email_key, name, password, created_at) values ($1, $2, $2, 'N', 'x', now())`,
        [`acc_${name}`, `${name}@acme.example`],
      );
      await store.database.query(
        `insert into members (id, workspace_id, account_id, role, joined_at) values ($1, 'ws_w', $2, $3, now())`,
        [`mem_${name}`, `acc_${name}`, role],
      );
    }
    await enqueue(deps(), WARNING);
    outcomes.push('deferred', 'deferred');
    expect(await run()).toEqual(['admin@acme.example', 'owner@acme.example']);
    const [{ html = '', text = '' } = {}] = sent;
    expect(html).toContain('&lt;acme&gt;.example cannot send any more');
    expect(html).not.toContain('<acme>');
    expect(text).toContain('<acme>.example cannot send any more');
    expect(html).toContain('A &amp; B');
    expect(await run()).toEqual([]);
    clock.time += MINUTE;
    outcomes.push('refused');
    expect(await run()).toHaveLength(2);
    expect(await countOf(store.database, 'service_emails')).toBe(0);
    expect(warned.splice(0)).toEqual(['refused']);
  });

  test('leave only once where it is unknown whether they arrived, and not when they are too old', async () => {
    await enqueue(deps(), WARNING);
    outcomes.push('unknown', 'deferred');
    await run();
    expect(await countOf(store.database, 'service_emails')).toBe(1);
    clock.time += 4 * 24 * 60 * MINUTE;
    expect(await run()).toEqual([]);
    expect(await countOf(store.database, 'service_emails')).toBe(0);
    expect(warned.splice(0).sort()).toEqual(['too late', 'unknown']);
  });

  test('leave once each although one among them cannot even be read', async () => {
    await enqueue(deps(), WARNING);
    const ends = new Date(clock.now() + 30 * MINUTE).toISOString();
    await store.database.query(
      `insert into service_emails (id, workspace_id, sealed, next_at, expires_at)
       values ('sem_1', 'ws_w', 'sealed with another key', now() - interval '1 year', $1::text::timestamptz)`,
      [ends],
    );
    expect(await run()).toHaveLength(2);
    clock.time += MINUTE;
    expect(await run()).toEqual([]);
    clock.time += 30 * MINUTE;
    expect(await run()).toEqual([]);
    expect(await countOf(store.database, 'service_emails')).toBe(0);
    warned.length = 0;
  });

  test('invite an address three times a day at most, over all workspaces', async () => {
    const invite = (workspaceId: string, to: string) =>
      enqueue(deps(), {
        ...{ kind: 'invitation', to, workspaceId, role: 'viewer', url: 'https://x.example/#token=t' },
        expiresAt: clock.now() + 7 * 24 * 60 * MINUTE,
      });
    const invited = async () => {
      for (const id of ['ws_w', 'ws_other', 'ws_w', 'ws_other']) await invite(id, 'Ada@people.example');
      await invite('ws_w', 'bob@people.example');
      return (await run()).map((to) => to.toLowerCase());
    };
    const told = [...Array(3).fill('ada@people.example'), 'bob@people.example'];
    expect(await invited()).toEqual(told);
    expect((await invited()).length).toBe(1);
    clock.time += 24 * 60 * MINUTE;
    expect(await invited()).toEqual(told);
    clock.time += 24 * 60 * MINUTE;
    await invite('ws_w', 'cy@people.example');
    await run();
    expect(await countOf(store.database, 'service_email_readers')).toBe(1);
  });

  test('are not written for a workspace that does without', async () => {
    await store.database.query(`update workspaces set muted_emails = '{domainLost}' where id = 'ws_w'`);
    await enqueue(deps(), WARNING);
    expect(await countOf(store.database, 'service_emails')).toBe(0);
    await enqueue(deps(), {
      kind: 'campaignPaused',
      workspaceId: 'ws_w',
      campaign: 'Spring',
      reason: 'quota_exceeded',
      remaining: 1_200,
    });
    await run();
    expect(sent[0]?.text).toContain('1,200 recipients');
  });
});

const draft = (before: string | null, after: string, context: object = {}): Draft => {
  const actor = (value: string) => ({ id: 'x_1', workspaceId: 'ws_w', snapshot: { value, context } });
  return { before: before && actor(before), after: actor(after) } as unknown as Draft;
};

test('a lost domain and an endpoint that failures have disabled are worth a warning, and nothing else is', async () => {
  const told = (kind: string, one: Draft) => warningOf(kind, one, async () => 'acme.example');
  expect(await told('domain', draft('temporaryFailure', 'failed'))).toEqual({
    ...WARNING,
    domain: 'acme.example',
  });
  const failing = { failureCount: 10, url: 'https://acme.example/hook' };
  expect(await told('webhookEndpoint', draft('active', 'disabled', failing))).toMatchObject({
    kind: 'webhookDisabled',
    failures: 10,
  });
  for (const [kind, one] of [
    ['domain', draft('pending', 'failed')],
    ['domain', draft('failed', 'failed')],
    ['domain', draft('verified', 'temporaryFailure')],
    ['domain', draft('verified', 'removed')],
    ['webhookEndpoint', draft('active', 'disabled', { ...failing, failureCount: 0 })],
    ['webhookEndpoint', draft('disabled', 'disabled', failing)],
    ['email', draft('active', 'disabled', failing)],
  ] as const)
    expect(await told(kind, one)).toBeNull();
});
