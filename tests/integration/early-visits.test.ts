import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { ReportReceived } from '../../machines/email/context.ts';
import { EarlyVisits, type EarlyVisitsDeps, MOST_KEPT } from '../../src/audience/visits/early-visits.ts';
import type { EarlyVisit } from '../../src/audience/visits/visits.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const START = Date.UTC(2026, 10, 22, 12);

let database: Awaited<ReturnType<typeof embeddedDatabase>>;
beforeAll(async () => {
  database = await embeddedDatabase();
});
afterAll(() => database.close());

/** Early visits at a time that the test sets, of an engine that records its events, or fails. */
function visits(told: (url: unknown) => void) {
  let now = START;
  const engine = {
    async tell(_: string, __: string, { report }: ReportReceived) {
      told(report.data?.url);
      return { outcome: 'applied' };
    },
  } as unknown as EarlyVisitsDeps['engine'];
  const clock = { now: () => now, monotonic: () => now };
  const early = new EarlyVisits({ database, engine, clock });
  return { early, after: (ms: number) => (now += ms) };
}

/** An email that was sent at the start. */
async function sent(): Promise<string> {
  const id = mintId('em', START);
  await database.query(
    `insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, sent_at)
    values ($1, 2, 'ws_1', true, 'sent', '{}', 1, 1, '[]', $2::text::timestamptz, $2::text::timestamptz)`,
    [id, new Date(START).toISOString()],
  );
  return id;
}

const click = (emailId: string, target: string, at: number): EarlyVisit => ({
  emailId,
  recipient: 0,
  type: 'clicked',
  target,
  at,
  links: 3,
  network: '192.0.2',
  userAgent: null,
});

test('visits that an email was told of are not told again when it cannot be told of the next', async () => {
  const told: unknown[] = [];
  let isAway = true;
  const { early, after } = visits((url) => {
    if (url === 'https://b.example/' && isAway) throw new UnavailableError('The database is away.');
    told.push(url);
  });
  const id = await sent();
  for (const [index, name] of ['a', 'b'].entries())
    expect(await early.keep(click(id, `https://${name}.example/`, START + index))).toBeTrue();
  after(10_000);
  await expect(early.duty.run()).rejects.toThrow('The database is away.');
  isAway = false;
  after(61_000);
  await early.duty.run();
  expect(told).toEqual(['https://a.example/', 'https://b.example/']);
});

test('a visit that is repeated without end is kept a bounded number of times, and stays early', async () => {
  let count = 0;
  const { early, after } = visits(() => {
    count++;
  });
  const id = await sent();
  await database.query(
    `insert into early_visits (id, email_id, recipient, type, target, links, network, seen_at)
    select 'vst_' || n, $1, 0, 'clicked', 'https://a.example/', 3, '192.0.2', $2::text::timestamptz from generate_series(2, ${MOST_KEPT}) n`,
    [id, new Date(START).toISOString()],
  );
  for (const at of [START, START + 1, START + 2])
    expect(await early.keep(click(id, 'https://a.example/', at))).toBeTrue();
  expect(await early.keep(click(id, 'https://a.example/', START + 60_000))).toBeFalse();
  after(10_000);
  await early.duty.run();
  expect(count).toBe(MOST_KEPT);
});
