import { expect } from 'bun:test';
import type { Call } from '../../src/http/request/route.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import type { Analytics, AnalyticsQuery } from '../../src/sending/analytics/model.ts';
import { readAnalytics } from '../../src/sending/analytics/queries.ts';
import { analyticsRollUp } from '../../src/sending/analytics/roll-up.ts';
import { type Era, HistoryWriter, type PastEmail } from './email-history.ts';
import type { SharedStore } from './shared-store.ts';

/** Clocks in Vienna and on Lord Howe change in it, there by half an hour. */
const ERA = { from: Date.parse('2026-03-25T00:00:00Z'), to: Date.parse('2026-04-08T00:00:00Z') };
const ZONES = ['Europe/Vienna', 'Asia/Kolkata', 'Australia/Lord_Howe'];

const QUESTIONS: readonly Partial<AnalyticsQuery>[] = [
  ...ZONES.flatMap((timeZone) => [
    { timeZone, from: '2026-03-25', to: '2026-04-08', interval: 'day' } as const,
    { timeZone, from: '2026-03-28', to: '2026-04-07', interval: 'hour', by: 'accepted' } as const,
  ]),
  // Beginnings and ends within an hour, of which only a part counts.
  { timeZone: 'UTC', from: '2026-03-26T10:15:00Z', to: '2026-03-27T11:45:00Z', interval: 'hour' },
  { timeZone: 'UTC', from: '2026-03-26T10:15:00Z', to: '2026-03-26T10:45:00Z', interval: 'hour' },
  { timeZone: 'Asia/Kolkata', from: '2026-03-25T10:15:00Z', to: '2026-04-02', by: 'accepted' },
  { domainId: 'dom_a', timeZone: 'Europe/Vienna' },
  {
    campaignId: 'cmp_b',
    by: 'accepted',
    interval: 'hour',
    from: '2026-03-29T00:30:00+05:30',
    to: '2026-03-30',
  },
  { templateId: 'tpl_a', tag: 'a:1', domainId: 'dom_b' },
  { tag: 'b:2', campaignId: 'cmp_a' },
  { tag: 'none:0' },
];

/** Asks as an endpoint does. */
export async function ask(
  store: SharedStore,
  workspaceId: string,
  given: { readonly [Name in keyof AnalyticsQuery]?: AnalyticsQuery[Name] | undefined },
  livemode = true,
) {
  const query = { from: '2026-03-25', to: '2026-04-08', interval: 'day', by: 'occurred', ...given };
  const caller = { workspaceId, livemode };
  const call = { caller, query, now: ERA.to } as unknown as Call<unknown, AnalyticsQuery>;
  return (await readAnalytics({ reads: store.database }, call)) as Analytics;
}

const COUNTED = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed'] as const;

/**
 * Names the hour or the day of a moment by the clocks of a zone, with the offset, since an hour may come
 * twice.
 */
function namer(timeZone: string, interval: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...(interval === 'hour' ? { hour: '2-digit', minute: '2-digit', timeZoneName: 'longOffset' } : {}),
  });
  // In a zone whose clocks go back by half an hour, the hour from 1 to 2 takes 90 minutes.
  const name = (at: number): string => {
    const name = format.format(at);
    if (interval === 'day') return name;
    const isLong = timeZone === 'Australia/Lord_Howe' && name.startsWith('2026-04-05 01');
    return isLong ? name.slice(0, 13) : name.replace(/:\d\d /, ' ');
  };
  return (at) => {
    const quarter = `${timeZone} ${interval} ${Math.floor(at / 900_000)}`;
    const known = NAMED.get(quarter) ?? name(at);
    NAMED.set(quarter, known);
    return known;
  };
}

/** Names of quarters of an hour, since formatting takes long. */
const NAMED = new Map<string, string>();

/** Counts the history event by event, for the points of an answer. */
function counted(emails: readonly PastEmail[], answer: Analytics, query: Partial<AnalyticsQuery>) {
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  const name = namer(answer.timeZone, answer.interval);
  const points = new Map<string, Record<string, number>>();
  const isWithin = (at: number) => at >= from && at < to;
  const add = (at: number, what: string, n = 1) => {
    if (!isWithin(at)) return;
    const point = points.get(name(at)) ?? {};
    points.set(name(at), point);
    point[what] = (point[what] ?? 0) + n;
  };
  const asked = emails.filter(
    ({ domainId, campaignId, templateId, tags }) =>
      (query.domainId ?? domainId) === domainId &&
      (query.campaignId ?? campaignId) === campaignId &&
      (query.templateId ?? templateId) === templateId &&
      (query.tag === undefined || tags.includes(query.tag)),
  );
  const reached = Object.fromEntries(COUNTED.map((type) => [type, new Set<string>()]));
  for (const { id, acceptedAt, recipients, events } of asked) {
    add(acceptedAt, 'accepted', recipients);
    for (const { type, recipient, at, byMachine } of events) {
      const what = byMachine ? `machine${type === 'opened' ? 'Opened' : 'Clicked'}` : type;
      add(answer.by === 'occurred' ? at : acceptedAt, what);
      if (!byMachine && isWithin(acceptedAt)) reached[type]?.add(`${id} ${recipient}`);
    }
  }
  const accepted = [...points.values()].reduce((sum, point) => sum + (point.accepted ?? 0), 0);
  return { points, name, reached, accepted };
}

const NAMES = ['accepted', ...COUNTED, 'machineOpened', 'machineClicked'] as const;

/** Asks every question, and compares each point with a count over the events. */
export async function compare(store: SharedStore, workspaceId: string, emails: readonly PastEmail[]) {
  for (const query of QUESTIONS) {
    const answer = await ask(store, workspaceId, query);
    const { points, name, reached, accepted } = counted(emails, answer, query);
    const told = answer.series.map(({ start, open: _, local: __, ...counts }) => [
      name(Date.parse(start)),
      counts,
    ]);
    const expected = answer.series.map(({ start }) => {
      const point = points.get(name(Date.parse(start))) ?? {};
      return [name(Date.parse(start)), Object.fromEntries(NAMES.map((each) => [each, point[each] ?? 0]))];
    });
    // The text first: a deep comparison of so many points takes longer than the question.
    if (JSON.stringify(told) !== JSON.stringify(expected))
      expect([query, told] as unknown).toEqual([query, expected] as unknown);
    // No two points are of the same hour, and none of those with events is missing.
    const named = new Set(answer.series.map(({ start }) => name(Date.parse(start))));
    expect(named.size).toBe(answer.series.length);
    expect([...points.keys()].filter((each) => !named.has(each))).toEqual([]);
    for (const each of NAMES)
      expect(answer.totals[each]).toBe(answer.series.reduce((sum, point) => sum + point[each], 0));
    if (query.by !== 'accepted') continue;
    for (const [type, rate] of Object.entries(answer.rates))
      expect([type, rate]).toEqual([type, accepted === 0 ? null : (reached[type]?.size ?? 0) / accepted]);
  }
}

/**
 * Writes a history of so many events, lets instances add up now and then, at once and while transactions are
 * open, and compares on the way and at the end. Answers the emails of the history.
 */
export async function compareHistory(
  store: SharedStore,
  instances: readonly SharedStore['database'][],
  {
    workspaceId,
    events,
    seed,
    checks,
  }: { workspaceId: string; events: number; seed: number; checks: number },
): Promise<readonly PastEmail[]> {
  const random = randomFrom(seed);
  const era: Era = { ...ERA, workspaceId };
  await store.database.query(
    `insert into workspaces (id, name, plan, time_zone, created_at) values ($1, 'w', 'free', 'Europe/Vienna', now())`,
    [workspaceId],
  );
  await using writer = new HistoryWriter(store, era, random, Math.max(20, Math.ceil(events / 500)));
  const addUp = () => Promise.all(instances.map((database) => analyticsRollUp({ database }).run()));
  let compared = 0;
  while (writer.events < events) {
    await writer.step();
    if (writer.events < (events / checks) * compared) continue;
    compared += 1;
    // A transaction that stays open keeps everything after it from being added up.
    if (compared % 2 === 0) await writer.settle();
    // Before the first time nothing has been added up.
    await compare(store, workspaceId, writer.emails);
    await addUp();
    await compare(store, workspaceId, writer.emails);
  }
  await writer.settle();
  await compare(store, workspaceId, writer.emails);
  await addUp();
  await compare(store, workspaceId, writer.emails);
  return writer.emails;
}
