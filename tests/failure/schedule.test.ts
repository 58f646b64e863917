import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/engine/clock-source.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { ActorEvent } from '../../src/engine/kind.ts';
import { createClient } from '../support/client.ts';
import {
  countOf,
  emailBirth,
  embeddedStore,
  engineOver,
  plainInput,
  postgresStore,
  type Store,
} from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type Service, startService, TEST_KEY } from '../support/service.ts';

const OTHERS = 100_000;

/** Emails that are due from tomorrow on, one a second. */
const FILL = `insert into emails (id, workspace_id, livemode, state, context, revision, machine_version, timers, wake_at,
    recipients, recipient_keys)
  select 'em_0' || lpad(g::text, 23, '0'), 'ws_others', true, 'scheduled', '{}', 1, 1,
    json_build_object('xstate.after.due.email.scheduled', 0), now() + interval '1 day' + g * interval '1 second', '{}', '{}'
  from generate_series(1, ${OTHERS}) g`;

const stores: Record<string, () => Promise<Store>> = { PGlite: embeddedStore, PostgreSQL: postgresStore };

for (const [name, makeStore] of Object.entries(stores))
  describe(`with ${OTHERS.toLocaleString('en')} emails scheduled for later on ${name}`, () => {
    let store: Store;
    let engine: Engine;
    /** Id → when it began to be sent, as the clock was then. */
    const begun = new Map<string, number>();
    beforeAll(async () => {
      store = await makeStore();
      await store.database.script(FILL);
      engine = engineOver(store.database);
      engine.listen((_kind, drafts) => {
        for (const { after } of drafts)
          if (after.snapshot.value === 'sending') begun.set(after.id, Date.now());
      });
      engine.start();
    }, 60_000);
    afterAll(async () => {
      await engine.stop();
      await store[Symbol.asyncDispose]();
    });

    const schedule = async (inMs: number): Promise<{ id: string; due: number }> => {
      const now = systemClock.now();
      const birth = emailBirth(plainInput(now, { scheduledAt: now + inMs }));
      await engine.spawn('email', birth);
      return { id: birth.id, due: now + inMs };
    };
    const fired = (id: string): Promise<number> => eventually('it fires', async () => begun.get(id));

    test('one fires within a second of its time, wherever in a second that lies', async () => {
      const scheduled = await Promise.all(
        Array.from({ length: 24 }, (_, index) => schedule(5 + index * 127)),
      );
      const late: number[] = [];
      for (const { id, due } of scheduled) late.push((await fired(id)) - due);
      expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...late)).toBeLessThan(1_000);
    }, 20_000);

    test('one fires within a second of the time that it is moved to', async () => {
      const { id } = await schedule(3_600_000);
      const due = systemClock.now() + 700;
      await engine.tell('email', id, {
        type: 'reschedule.requested',
        at: due - 700,
        scheduledAt: due,
      } as ActorEvent);
      const late = (await fired(id)) - due;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(1_000);
    });

    test('none of the others has moved', async () => {
      const untouched = `emails where workspace_id = 'ws_others' and state = 'scheduled' and revision = 1 and wake_at > now()`;
      expect(await countOf(store.database, untouched)).toBe(OTHERS);
    });
  });

for (const name of ['PGlite', 'PostgreSQL'] as const)
  for (const end of ['stop', 'kill'] as const)
    test(`an email whose time passes while the service is down (${end}, ${name}) is sent as soon as it is up again`, async () => {
      const made = name === 'PostgreSQL' ? await createTestDatabase() : null;
      const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-schedule-'));
      const start = (): Promise<Service> =>
        startService({
          dataDir,
          env: made ? { DATABASE_URL: made.url, SECRET_KEY: 'only-for-tests-only-for-tests-only' } : {},
        });
      try {
        const before = await start();
        const due = Date.now() + 1_500;
        const sent = await createClient(before.url, TEST_KEY).post('/v1/emails', {
          from: 'sender@example.com',
          to: 'delivered@simulator.svc.test',
          subject: 'Later',
          text: 'It can wait.',
          scheduledAt: new Date(due).toISOString(),
        });
        expect(sent.body.data.status).toBe('scheduled');
        await before[end]();
        expect(Date.now()).toBeLessThan(due);
        await eventually('its time has passed', async () => (Date.now() > due + 200 ? true : undefined));
        await using after = await start();
        const up = performance.now();
        const client = createClient(after.url, TEST_KEY);
        const email = await eventually('it is delivered', async () => {
          const { body } = await client.get(`/v1/emails/${sent.body.data.id}`);
          return body.data.status === 'delivered' ? body.data : undefined;
        });
        expect(performance.now() - up).toBeLessThan(1_000);
        expect(email.events.map(({ type }: { type: string }) => type)).toEqual(['sent', 'delivered']);
        expect(Date.parse(email.sentAt)).toBeGreaterThan(due);
      } finally {
        rmSync(dataDir, { recursive: true, force: true });
        await made?.close();
      }
    }, 30_000);
