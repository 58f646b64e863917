import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setUpOwner } from '../contract/a-browser.ts';
import { type RealService, startRealService } from '../contract/real-service.ts';
import { ManualClock } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

// A flow of thirty days whose emails are put off for 72 hours each: by a test clock, and by the ordinary
// scheduler of a service whose time is moved from one due moment to the next. Both leave the journal that
// lies in the golden file; GOLDEN=write writes it again.

const GOLDEN = join(import.meta.dir, 'clocked-journal.golden.txt');
const BEGIN = Date.UTC(2026, 11, 1, 9);
const DAY_MS = 86_400_000;

const clock = new ManualClock(Date.now());
let real: RealService;
let clocked: RealService;
beforeAll(async () => {
  [real, clocked] = await Promise.all([startRealService({}, { clock }), startRealService()]);
});
afterAll(async () => {
  await Promise.all([real[Symbol.asyncDispose](), clocked[Symbol.asyncDispose]()]);
});

/** The actions of a tester with either of them. */
async function aMonth(service: RealService, startsAt: string | null) {
  const key = await service.keyWith('test', ['*']);
  const owner = await setUpOwner(service);
  const headers: Record<string, string> = {};
  const post = async (path: string, body: unknown) => {
    const told = await service.ask({ method: 'POST', path, key, body, headers });
    if (told.status >= 300) throw new Error(`${path}: ${told.status} ${told.text}`);
    return told.body.data;
  };
  const template = { name: 'Hello', subject: 'Hello', html: '<p>x</p>', from: 'Shop <shop@sender.example>' };
  const templateId = (await post('/v1/templates', template)).id;
  const send = (name: string) => ({ key: name, type: 'sendEmail', config: { templateId } });
  const next = (from: string, to: string, when = 'default') => ({ from, to, when });
  const flow = await post('/v1/flows', {
    name: 'A month',
    trigger: { type: 'manual' },
    entry: 'welcome',
    quietHours: { from: '20:00', to: '07:30', timeZone: 'Europe/Berlin' },
    steps: [
      send('welcome'),
      { key: 'rest', type: 'delay', config: { amount: 5, unit: 'days' } },
      {
        key: 'knows',
        type: 'condition',
        config: { filter: { field: 'properties.paid', operator: 'eq', value: true } },
      },
      { key: 'evening', type: 'delayUntil', config: { time: '21:15', timeZone: 'Europe/Berlin' } },
      send('remind'),
      { key: 'paid', type: 'waitForEvent', config: { name: 'paid', timeout: { amount: 1, unit: 'weeks' } } },
      { key: 'mark', type: 'updateContact', config: { properties: { lost: true } } },
      { key: 'weeks', type: 'delay', config: { amount: 2, unit: 'weeks' } },
      send('goodbye'),
    ],
    edges: [
      next('welcome', 'rest'),
      next('rest', 'knows'),
      next('knows', 'weeks', 'met'),
      next('knows', 'evening', 'notMet'),
      next('evening', 'remind'),
      next('remind', 'paid'),
      next('paid', 'mark', 'timeout'),
      next('paid', 'weeks', 'event'),
      next('mark', 'weeks'),
      next('weeks', 'goodbye'),
    ],
  });
  const activated = await owner.ask(`/test/flows/${flow.id}/activate`, {});
  if (activated.status !== 200) throw new Error(activated.text);
  clock.time = BEGIN;
  const clockId = startsAt && (await post('/v1/test-clocks', { startAt: startsAt })).id;
  if (clockId) headers['x-svc-test-clock'] = clockId;
  // Its emails are put off like live mail until their retries run out.
  const contact = await post('/v1/contacts', { email: 'expired+month@simulator.svc.test' });
  const { id: runId } = await post(`/v1/flows/${flow.id}/runs`, { contactId: contact.id });
  return { post, runId, clockId, ids: { [flow.id]: 'flw_', [contact.id]: 'con_', [runId]: 'run_' } };
}

interface Step {
  readonly event: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: number;
  readonly attempt: number | null;
  readonly effects: readonly string[];
}

/** The journals of the run and of its emails, a line each step. */
async function journalOf({ service: { database } }: RealService, runId: string): Promise<string> {
  const when = (at: number) => new Date(at).toISOString();
  const lines = (steps: readonly Step[]) =>
    steps.map(
      ({ event, from, to, at, attempt, effects }) =>
        `${when(at)} ${event}: ${from ?? '-'} -> ${to}, attempt ${attempt ?? '-'} [${effects.join(', ')}]`,
    );
  const stepsOf = async (table: string, id: string) => {
    const rows = await database.query<{ steps: readonly Step[] }>(
      `select steps from ${table} where actor_id = $1 order by revision`,
      [id],
    );
    return lines(rows.flatMap(({ steps }) => steps));
  };
  const log = await database.query<{ step: string; at: number; outcome: string; email_id: string | null }>(
    `select step, (extract(epoch from at) * 1000)::float8 as at, outcome, email_id from flow_run_log where run_id = $1 order by visit`,
    [runId],
  );
  const text = ['The run', ...(await stepsOf('flow_run_journal', runId)), 'Its log'];
  text.push(...log.map(({ step, at, outcome }) => `${when(at)} ${step}: ${outcome}`));
  for (const { step, email_id: email } of log) {
    if (email === null) continue;
    const events = await database.query<{ type: string; at: number }>(
      `select type, (extract(epoch from occurred_at) * 1000)::float8 as at from email_events where email_id = $1 order by id`,
      [email],
    );
    text.push(`The email of ${step}`, ...(await stepsOf('email_journal', email)));
    text.push(...events.map(({ type, at }) => `${when(at)} event: ${type}`));
  }
  return `${text.join('\n')}\n`;
}

/** The actors that wait for the clock, and true while something is under way. */
const WAITING = `select (extract(epoch from min(w.at)) * 1000)::float8 as next, bool_or(w.busy) as busy from (
  select wake_at as at, status = 'running' as busy from flow_runs where ended_at is null
  union all select d.wake_at, n.state in ('sending', 'queued') from email_due d join emails_now n on n.id = d.id
  union all select null, state in ('sending', 'queued') from emails_now
) w`;

/** Moves the service's time to each moment at which something is due, and waits for what happens there. */
async function liveInRealSteps({ service: { database, engine } }: RealService): Promise<void> {
  for (;;) {
    // PostgreSQL may plan a statement before a day has its partition and run it after mail was written there,
    // which it then does not see: two looks have to agree.
    let before: number | null | undefined;
    const next = await eventually('nothing is under way', async () => {
      const [row] = await database.query<{ next: number | null; busy: boolean | null }>(WAITING);
      const found = row?.busy === true ? undefined : (row?.next ?? null);
      const isSame = found === before;
      before = found;
      return found !== undefined && isSame ? [found] : undefined;
    });
    const [moment] = next;
    if (moment === null || moment === undefined) return;
    clock.time = Math.max(clock.time, moment);
    await engine.wakeDue();
  }
}

test('a flow of thirty days with retries of 72 hours leaves by a test clock the journal that real time leaves', async () => {
  const lived = await aMonth(real, null);
  await liveInRealSteps(real);
  const began = clock.time;
  expect(began).toBeGreaterThan(BEGIN + 29 * DAY_MS);

  const passed = await aMonth(clocked, new Date(BEGIN).toISOString());
  const told = await passed.post(`/v1/test-clocks/${passed.clockId}/advance`, {
    by: { amount: 40, unit: 'days' },
  });
  expect(told).toMatchObject({ status: 'ready', emails: 3, runs: 1 });

  const [byTime, byClock] = [await journalOf(real, lived.runId), await journalOf(clocked, passed.runId)];
  if (process.env.GOLDEN === 'write') writeFileSync(GOLDEN, byTime);
  const golden = readFileSync(GOLDEN, 'utf8');
  expect(byTime).toBe(golden);
  expect(byClock).toBe(golden);
});
