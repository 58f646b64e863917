import { expect, test } from 'bun:test';
import type { ServiceEmail } from '../../src/accounts/service-emails.ts';
import { pauseWarning } from '../../src/automation/campaigns/pause-warning.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { lostWarning } from '../../src/sending/domains/records/lost-warning.ts';
import { contentOf } from '../../src/sending/service-emails/contents.ts';
import { textOf } from '../../src/sending/service-emails/layout.ts';
import { enqueue, serviceEmailSender } from '../../src/sending/service-emails/queue.ts';
import { Warner } from '../../src/sending/service-emails/watch.ts';
import { disabledWarning } from '../../src/sending/webhooks/endpoints/disabled-warning.ts';
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
    database: store.database,
    clock,
    sealer: createSealer('only-for-tests'),
    logger: logger as never,
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
        kind: 'invitation',
        to,
        workspaceId,
        role: 'viewer',
        url: 'https://x.example/#token=t',
        language: null,
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

/**
 * The kinds of which admins are warned, each with the rows of an actor in its warned state and what the email
 * says of it.
 */
const CASES = {
  domain: {
    warning: lostWarning,
    before: 'temporaryFailure',
    columns: { name: (id: string) => `${id}.acme.example`, return_path: () => 'bounces' },
    context: {},
    says: 'acme.example cannot send any more',
  },
  webhookEndpoint: {
    warning: disabledWarning,
    before: 'active',
    columns: { events: () => '{sent}' },
    context: {
      at: NOW,
      failureCount: 10,
      url: 'https://acme.example/hook',
      disabled: { at: Date.UTC(2026, 10, 20, 3, 58), reason: 'failures' },
      lastFailures: [
        ...Array.from({ length: 7 }, () => ({ at: NOW, httpStatus: 0, error: 'timeout' })),
        ...Array.from({ length: 3 }, () => ({ at: NOW, httpStatus: 500, error: null })),
      ],
    },
    says: 'so the endpoint was disabled on November 20, 2026 at 03:58 UTC. It receives no more events.\n\nLast results: timeout (7) and HTTP 500 (3).',
  },
  campaign: {
    warning: pauseWarning,
    before: 'sending',
    columns: { attempt: () => '1' },
    context: { pausedReason: 'bounce_rate' },
    says: 'Too many of its emails bounced',
  },
};

onEachStore('warnings of what actors have come to', (store) => {
  const clock = new ManualClock(NOW);
  const sealer = createSealer('only-for-tests');
  const warner = () =>
    new Warner({
      database: store.database,
      clock,
      sealer,
      logger: { warn: () => {} },
      warnings: Object.values(CASES).map(({ warning }) => warning),
    });
  const written = async () => {
    const rows = await store.database.query<{ sealed: string }>(
      'delete from service_emails returning sealed',
    );
    return rows.map(({ sealed }) => {
      const { email } = JSON.parse(sealer.open(sealed, 'an email of the service')) as { email: ServiceEmail };
      return textOf(contentOf(email, 'en', { name: 'A', publicUrl: 'https://mail.example.com' }));
    });
  };
  const { query } = {
    query: (text: string, values: readonly (string | number)[] = []) => store.database.query(text, values),
  };
  /** Writes what the commit of a change leaves behind: the actor's row and a row of its journal. */
  const change = async (
    name: keyof typeof CASES,
    id: string,
    revision: number,
    [from, to]: readonly [string, string],
    context: object = CASES[name].context,
  ) => {
    const { table, journal } = CASES[name].warning.kind;
    const extra = Object.entries(CASES[name].columns as Record<string, (id: string) => string>);
    await query(`delete from ${table} where id = $1`, [id]);
    await query(
      `insert into ${table} (id, workspace_id, livemode, state, context, revision, machine_version, ${extra.map(([column]) => column)})
       values ($1, 'ws_w', true, $2, $3::text::json, $4::integer, 1, ${extra.map(([, value]) => `'${value(id)}'`)})`,
      [id, to, JSON.stringify(context), revision],
    );
    await query(
      `insert into ${journal} (actor_id, revision, commit_tag, steps) values ($1, $2::integer, 0, $3::text::json)`,
      [id, revision, JSON.stringify([{ event: 'x', from, to, at: NOW, attempt: null, effects: [] }])],
    );
  };

  test('are written once, whichever instance looks, and whenever the process that made the change has died', async () => {
    await query(`insert into workspaces (id, name, plan, created_at) values ('ws_w', 'A', 'free', now())`);
    await query(
      `insert into accounts (id, email, email_key, name, password, created_at) values ('acc_1', 'a@x.example', 'a@x.example', 'N', 'x', now())`,
    );
    await query(
      `insert into members (id, workspace_id, account_id, role, joined_at) values ('mem_1', 'ws_w', 'acc_1', 'owner', now())`,
    );
    await query(
      `insert into campaign_settings (campaign_id, name, audience_id, settings, updated_at) values ('x_campaign', 'Spring', 'a', '{}', now())`,
    );
    for (const name of Object.keys(CASES) as (keyof typeof CASES)[]) {
      const { before, warning, says } = CASES[name];
      const id = `x_${name}`;
      await change(name, id, 2, [before, warning.to]);
      await Promise.all([warner(), warner()].map((each) => each.look()));
      const [letter, ...others] = await written();
      expect(letter).toContain(says);
      expect(others).toEqual([]);
      // It stays as it is, and is looked at by others.
      await change(name, id, 3, [warning.to, warning.to]);
      await warner().look();
      expect(await written()).toEqual([]);
      // It was mended, and has gone again.
      await change(name, id, 4, [before, before]);
      await change(name, id, 5, [before, warning.to]);
      await warner().look();
      expect(await written()).toHaveLength(1);
    }
  });

  test('are of no other change', async () => {
    await change('domain', 'x_a', 2, ['pending', 'failed']);
    await change('domain', 'x_b', 2, ['verified', 'temporaryFailure']);
    await change('webhookEndpoint', 'x_c', 2, ['active', 'disabled'], { failureCount: 0, url: 'https://x' });
    await change('campaign', 'x_campaign', 9, ['sending', 'paused'], { pausedReason: 'manual' });
    // Lost and found again before anybody looked.
    await change('domain', 'x_d', 2, ['verified', 'failed']);
    await change('domain', 'x_d', 3, ['failed', 'verified']);
    await warner().look();
    expect(await written()).toEqual([]);
  });

  test('of a workspace that does without are not made up for later', async () => {
    await query(`update workspaces set muted_emails = '{domainLost}' where id = 'ws_w'`);
    await change('domain', 'x_e', 2, ['verified', 'failed']);
    await warner().look();
    await query(`update workspaces set muted_emails = '{}' where id = 'ws_w'`);
    await warner().look();
    expect(await written()).toEqual([]);
  });

  test('are written at once after a commit that is worth one, and of others it looks at nothing', async () => {
    const one = warner();
    const asked: number[] = [];
    one.look = async (warnings) => void asked.push(warnings?.length ?? 0);
    const heard = (name: string, before: string | null, after: string) => {
      const actor = (value: string) => ({ snapshot: { value, context: {} } });
      one.hear({ name } as never, [{ before: before && actor(before), after: actor(after) } as never]);
      return asked.splice(0);
    };
    expect(heard('domain', 'verified', 'failed')).toEqual([1]);
    expect(heard('domain', 'failed', 'failed')).toEqual([]);
    expect(heard('domain', null, 'failed')).toEqual([]);
    expect(heard('email', 'verified', 'failed')).toEqual([]);
  });
});
