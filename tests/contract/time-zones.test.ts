import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { type Browser, setUpOwner } from './a-browser.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

// The rules of six zones that changed after the runtime was built, through every door that goes by them.

const ZONES = [
  'America/Vancouver',
  'America/Edmonton',
  'America/Inuvik',
  'America/Winnipeg',
  'Africa/Casablanca',
  'America/Havana',
] as const;
/** Nine o'clock there on the day before the change, on the day after it, and in the winter that follows. */
const NINE: Readonly<Record<(typeof ZONES)[number], readonly string[]>> = {
  'America/Vancouver': ['2026-10-31T16', '2026-11-02T16', '2027-01-15T16'],
  'America/Edmonton': ['2026-10-31T15', '2026-11-02T15', '2027-01-15T15'],
  'America/Inuvik': ['2026-10-31T15', '2026-11-02T15', '2027-01-15T15'],
  'America/Winnipeg': ['2026-10-31T14', '2026-11-02T14', '2027-01-15T14'],
  'Africa/Casablanca': ['2026-09-18T08', '2026-09-21T09', '2027-02-20T09'],
  'America/Havana': ['2026-10-31T13', '2026-11-02T13', '2027-11-08T14'],
};
const HOUR = 3_600_000;
const instantOf = (hour: string): string => `${hour}:00:00.000Z`;
const before = (hour: string, hours: number): string =>
  new Date(Date.parse(instantOf(hour)) - hours * HOUR).toISOString();

describe.each(BOTH_DATABASES)('time zones on %s', (_, environment) => {
  let service: RealService;
  let owner: Browser;
  let key: string;
  let made = 0;
  beforeAll(async () => {
    service = await startRealService(environment);
    owner = await setUpOwner(service);
    key = await service.keyWith('test', ['*']);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const ask = (method: string, path: string, body?: unknown, headers = {}) =>
    service.ask({ method, path, key, headers, ...(body === undefined ? {} : { body }) });
  const ok = async (method: string, path: string, body?: unknown, headers = {}) => {
    const told = await ask(method, path, body, headers);
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.text}`);
    return told.body?.data;
  };
  const until = (config: object) => ({
    name: `Nine ${++made}`,
    entry: 'nine',
    steps: [
      { key: 'nine', type: 'delayUntil', config },
      { key: 'end', type: 'exit', config: {} },
    ],
    edges: [{ from: 'nine', to: 'end' }],
  });

  test.each(ZONES)(
    'a flow goes on at nine in %s, by its own zone and by that of the contact',
    async (timeZone) => {
      const own = await ok('POST', '/v1/flows', until({ time: '09:00', timeZone }));
      const ofContact = await ok('POST', '/v1/flows', until({ time: '09:00' }));
      const endOf = async (id: string, startAt: string, properties = {}) => {
        const contact = { email: 'zones@example.com', properties };
        return (await ok('POST', `/v1/flows/${id}/simulate`, { contact, startAt })).endsAt;
      };
      for (const nine of NINE[timeZone]) {
        expect(await endOf(own.id, before(nine, 1))).toBe(instantOf(nine));
        expect(await endOf(ofContact.id, before(nine, 22), { timeZone })).toBe(instantOf(nine));
      }
    },
  );

  test('runs by a test clock go on at nine on both sides of the change, and dates of contacts come at nine', async () => {
    const flows = await Promise.all(
      ZONES.map(async (timeZone) => {
        const { id } = await ok('POST', '/v1/flows', {
          ...until({ time: '09:00', timeZone }),
          trigger: { type: 'manual' },
        });
        const dated = await ok('POST', '/v1/flows', {
          ...until({ time: '09:00', timeZone }),
          trigger: { type: 'dateProperty', property: 'day', offsetDays: 0, time: '09:00', repeat: 'once' },
        });
        for (const flow of [id, dated.id])
          expect((await owner.ask(`/test/flows/${flow}/activate`, {})).status).toBe(200);
        return { timeZone, id, dated: dated.id };
      }),
    );
    for (const { timeZone, id, dated } of flows) {
      const [nine = ''] = NINE[timeZone].slice(1);
      const clock = await ok('POST', '/v1/test-clocks', { startAt: before(nine, 1) });
      const by = { 'x-svc-test-clock': clock.id };
      const contact = { email: `z${++made}@example.com`, properties: { timeZone, day: nine.slice(0, 10) } };
      const { id: contactId } = await ok('POST', '/v1/contacts', contact, by);
      await ok('POST', `/v1/flows/${id}/runs`, { contactId }, by);
      const runOf = async (flow: string) => {
        const [run] = await ok('GET', `/v1/flows/${flow}/runs`);
        return run && ok('GET', `/v1/flows/runs/${run.id}`);
      };
      await eventually('the run waits', async () =>
        (await runOf(id))?.status === 'waiting' ? true : undefined,
      );
      await ok('POST', `/v1/test-clocks/${clock.id}/advance`, { by: { amount: 2, unit: 'hours' } });
      expect((await runOf(id)).endedAt).toBe(instantOf(nine));
      expect((await runOf(dated)).startedAt).toBe(instantOf(nine));
    }
  });

  test.each(ZONES)('days of %s begin at midnight, before and after the change', async (timeZone) => {
    const [first = '', , last = ''] = NINE[timeZone];
    const live = await service.keyWith('live', ['emails:read']);
    for (const nine of [first, last]) {
      const day = nine.slice(0, 10);
      const next = new Date(Date.parse(day) + 24 * HOUR).toISOString().slice(0, 10);
      const query = new URLSearchParams({ from: day, to: next, timeZone });
      const told = await service.ask({ path: `/v1/analytics?${query}`, key: live });
      const [point, ...others] = told.body.data.series;
      expect([point.start, point.local, others]).toEqual([before(nine, 9), `${day}T00:00`, []]);
    }
  });

  test('a template shows the time of a zone by the same rules', async () => {
    const html = ZONES.map((zone) => `{{ at | date: "%H:%M %z", "${zone}" }}`).join('\n');
    const text = async (at: string, more = html) =>
      (
        await ok('POST', '/v1/templates/render-preview', {
          format: 'html',
          subject: 'x',
          html: more,
          variables: { at },
        })
      ).html.trim();
    expect(await text('2027-01-15T16:00:00Z')).toBe(
      ['09:00 -0700', '10:00 -0600', '10:00 -0600', '11:00 -0500', '16:00 +0000', '12:00 -0400'].join('\n'),
    );
    const fixed = '{{ at | date: "%d. %H:%M %Z", "+05:30" }} {{ at | date: "%H:%M %Z", "Europe/Vienna" }}';
    expect(await text('2027-01-15T20:00:00Z', fixed)).toBe('16. 01:30 +05:30 21:00 CET');
    const unknown = { format: 'html', subject: 'x', html: '{{ "now" | date: "%H", "Mars/Base" }}' };
    const refused = await ask('POST', '/v1/templates/render-preview', unknown);
    expect([refused.status, refused.text.includes('give the filter date a time zone')]).toEqual([422, true]);
  });

  test.each([
    ['europe/vienna', 'Europe/Vienna'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['+02:00', '+02:00'],
    ['-0330', '-03:30'],
    ['+02:07', null],
    ['2026-01-01T00:00Z', null],
    ['Mars/Base', null],
  ])('%s is a time zone in settings, flows and analytics alike: %s', async (timeZone, name) => {
    const live = await service.keyWith('live', ['workspace:write', 'emails:read']);
    const set = await service.ask({ method: 'PATCH', path: '/v1/workspace', key: live, body: { timeZone } });
    const query = new URLSearchParams({ timeZone });
    const asked = await service.ask({ path: `/v1/analytics?${query}`, key: live });
    const flow = await ask('POST', '/v1/flows', until({ time: '09:00', timeZone }));
    const quietHours = { from: '22:00', to: '07:00', timeZone };
    const quiet = await ask('POST', '/v1/flows', { ...until({ time: '09:00' }), quietHours });
    const isZone = name !== null;
    expect([set.status, asked.status, flow.status, quiet.status]).toEqual(
      isZone ? [200, 200, 201, 201] : [422, 422, 422, 422],
    );
    if (!isZone) return;
    expect([set.body.data.timeZone, asked.body.data.timeZone]).toEqual([name, name]);
  });

  test('the dashboard gets the time zone of the workspace, and the list of zones', async () => {
    const live = await service.keyWith('live', ['workspace:write']);
    const timeZone = 'America/Vancouver';
    await service.ask({ method: 'PATCH', path: '/v1/workspace', key: live, body: { timeZone } });
    const { clock } = (await owner.ask('/session')).body.data;
    expect(clock.timeZone).toBe(timeZone);
    // Since the spring of 2026 it stays as it is.
    expect(clock.changes.at(-1)).toEqual({
      at: Date.parse('2026-11-01T09:00:00Z'),
      offset: -7 * 60,
      abbreviation: 'MST',
    });
    const { data: names } = (await owner.ask('/time-zones')).body;
    expect(names).toEqual(expect.arrayContaining(['UTC', 'Asia/Calcutta', 'US/Pacific', timeZone]));
  });

  test('the release of the rules is shown', async () => {
    const { timeZones } = (await service.ask({ path: '/health' })).body.data;
    expect(timeZones.release >= '2026f').toBe(true);
  });
});
