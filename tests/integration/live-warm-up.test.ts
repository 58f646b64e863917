import { afterAll, beforeAll, expect, test } from 'bun:test';
import postgres from 'postgres';
import { DEFAULT_PER_DAY, startOfDay } from '../../src/mail/transport/warm-up.ts';
import { DAY_MS } from '../../src/platform/time/clock.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';
import { zoneOf } from './domains/a-workspace.ts';
import { startNameServer, type TestNameServer } from './transport/name-server.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Live mail of a domain that is warmed up, from its acceptance to the server.

let sink: Sink;
let dns: TestNameServer;
let service: LiveService;

beforeAll(async () => {
  sink = await startSink();
  dns = await startNameServer();
  service = await startLiveService({
    atNoon: true,
    environment: {
      TRANSPORT: 'capture,smtp',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      DNS_SERVERS: `127.0.0.1:${dns.server.port}`,
    },
  });
  dns.zone = zoneOf((await patch({ provider: 'smtp' })).body.data.dnsRecords);
  await eventually('the records seen', async () => {
    const { data } = (await service.live.post(`/v1/domains/${service.domainId}/verify`)).body;
    return data.status === 'verified' || undefined;
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

const patch = (body: object) => service.live.patch(`/v1/domains/${service.domainId}`, body);
const warmUp = async (...warmUps: object[]): Promise<Email> => {
  const { status, body } = await patch({ warmUps });
  expect(status).toBe(200);
  return body.data.warmUps;
};
const explain = async (id: string): Promise<Email> =>
  (await service.live.get(`/v1/emails/${id}/explain`)).body.data;
const putOff = (id: string): Promise<Email> =>
  eventually('it is put off', async () => {
    const told = await explain(id);
    return told.summary.startsWith('It waits for the warm-up') ? told : undefined;
  });
/** The service's wall clock, which no midnight comes near. */
const now = (): number => Date.parse(service.today());
const isSent = ({ status }: Email): boolean => status === 'sent';
const arrived = (id: string): number => sink.received.filter(({ raw }) => raw.includes(id)).length;
/** The attempts of an email in the database. */
const life = async (id: string): Promise<Email> => {
  const [row] = await service.service.database.query<Email>(
    `select context, (select array_agg(event) from (select s ->> 0 as event from email_journal j, json_array_elements(j.steps) s
      where j.actor_id = $1 order by j.revision) e) as steps from emails_now where id = $1`,
    [id],
  );
  return row;
};

test('what exceeds a day waits for the next one, and counts as no attempt', async () => {
  expect(await warmUp({ provider: 'smtp', perDay: [2, 2, 1_000] })).toMatchObject([
    { provider: 'smtp', perDay: [2, 2, 1_000], today: { day: 1, allowed: 2, claimed: 0 } },
  ]);
  const first = [await service.send(), await service.send()];
  for (const id of first) await service.until(id, isSent);
  const waiting = await service.send();
  const told = await putOff(waiting);
  const tomorrow = new Date(startOfDay(now()) + DAY_MS).toISOString();
  expect(told).toMatchObject({
    status: 'queued',
    summary: 'It waits for the warm-up of its domain on smtp: 2 recipients on that day, which were used up.',
    next: { at: tomorrow },
  });
  expect(told.evidence.at(-1).text).toStartWith(`Put off until ${tomorrow.slice(0, 10)} 00:00 UTC`);
  const listed = async (status: string): Promise<string[]> =>
    (await service.live.get(`/v1/emails?status=${status}`)).body.data.map((email: Email) => email.id);
  expect([await listed('queued'), await listed('sending')]).toEqual([[waiting], []]);
  expect(arrived(waiting)).toBe(0);
  expect((await life(waiting)).context).toMatchObject({ attempt: 0, firstAttemptAt: null });
  const [day] = await service.service.database.query(
    'select day::text, claimed from warm_up_days where domain_id = $1',
    [service.domainId],
  );
  expect(day).toEqual({ day: service.today().slice(0, 10), claimed: 2 });

  await service.pass(DAY_MS);
  const email = await service.until(waiting, isSent);
  expect(arrived(waiting)).toBe(1);
  expect((await life(waiting)).context.attempt).toBe(1);
  expect((await explain(waiting)).evidence.map(({ text }: Email) => text).join('\n')).toContain(
    'Put off until',
  );
  expect(email.status).toBe('sent');
});

test('what waits leaves at once when the warm-up is ended, or has room', async () => {
  await warmUp({ provider: 'smtp', perDay: Array(30).fill(1) });
  const [one, other] = [await service.send(), await service.send()];
  await eventually('one has left, the other waits', async () => {
    const summaries = await Promise.all([one, other].map(explain));
    return summaries.some(({ summary }) => summary.startsWith('It waits for the warm-up')) || undefined;
  });
  expect(await warmUp()).toEqual([]);
  for (const id of [one, other]) await service.until(id, isSent);
  expect([arrived(one), arrived(other)]).toEqual([1, 1]);
});

test('what an attempt puts off after the warm-up has ended leaves as well', async () => {
  await warmUp({ provider: 'smtp', perDay: Array(30).fill(1) });
  const id = await service.send();
  await putOff(id);
  // A row that is held stays as the attempt writes it while the waiting emails are looked for.
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => {} });
  await using _ = { [Symbol.asyncDispose]: () => sql.end() };
  await sql.begin(async (holding) => {
    await holding`select from email_due where id = ${id} for update`;
    expect(await warmUp()).toEqual([]);
  });
  await service.until(id, isSent);
  expect(arrived(id)).toBe(1);
});

test('an email that was put off before anything was opened takes room with the attempt that opens a session', async () => {
  await service.pass(DAY_MS);
  await eventually('the daily check has ended, which would say again that all is well', async () => {
    const [row] = await service.service.database.query<{ since: string | null }>(
      `select context ->> 'checkingSince' as since from domains where id = $1`,
      [service.domainId],
    );
    return row?.since === null ? true : undefined;
  });
  await warmUp({ provider: 'smtp', startedAt: service.today(), perDay: Array(30).fill(1) });
  const setState = async (state: string): Promise<void> => {
    await service.service.database.query('update domains set state = $2 where id = $1', [
      service.domainId,
      state,
    ]);
    // The cache of domains is cleared with any change of one.
    await patch({ openTracking: state !== 'verified' });
  };
  const id = await service.send({
    scheduledAt: new Date(Date.parse(service.today()) + 60_000).toISOString(),
  });
  await setState('failed');
  await service.pass(60_000);
  await service.until(id, ({ status }) => status === 'deferred');
  await setState('verified');
  // The only place of the day is another one's.
  await service.until(await service.send(), isSent);
  await service.pass(60_000);
  await putOff(id);
  expect([arrived(id), (await life(id)).context.attempt]).toEqual([0, 1]);
  await service.pass(DAY_MS);
  await service.until(id, isSent);
  expect((await life(id)).context).toMatchObject({ attempt: 2, counted: { attempt: 2, transport: 'smtp' } });
});

test('a campaign waits with recipients without room, behind a password reset', async () => {
  // A day of which nothing is used yet.
  await service.pass(DAY_MS);
  const { database } = service.service;
  const [workspace] = await database.query<{ id: string }>('select id from workspaces');
  const audienceId = await manyPeople(database, workspace?.id ?? '', 6);
  await warmUp({ provider: 'smtp', startedAt: service.today(), perDay: [5, 5, 5] });
  const before = sink.received.length;
  const made = await service.live.post('/v1/campaigns', {
    name: 'News',
    audienceId,
    from: 'news@sender.example',
    subject: 'News',
    html: '<p>News</p>',
  });
  const { id } = made.body.data;
  expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  const stats = (is: (stats: Email) => boolean): Promise<Email> =>
    eventually('the campaign has these numbers', async () => {
      const { data } = (await service.live.get(`/v1/campaigns/${id}/stats`)).body;
      return is(data) || undefined;
    });
  // One that is given out beyond the day, since its end was not known yet, waits as the others do.
  await stats(({ sent, remaining }) => sent >= 4 && sent + remaining === 6);
  await eventually('four have arrived', () => sink.received.length === before + 4 || undefined);
  await service.until(await service.send(), isSent);
  const tooMuch = await service.send();
  await putOff(tooMuch);
  await service.pass(DAY_MS);
  await service.until(tooMuch, isSent);
  await stats(({ sent, remaining }) => sent === 6 && remaining === 0);
  await eventually('all have arrived', () => sink.received.length === before + 8 || undefined);
});

test('a schedule has defaults, keeps what is left out, and refuses what cannot be', async () => {
  const before = now();
  await warmUp();
  const [fresh] = await warmUp({ provider: 'smtp' });
  expect(fresh.perDay).toEqual([...DEFAULT_PER_DAY]);
  expect(Date.parse(fresh.startedAt)).toBeGreaterThanOrEqual(before);
  const startedAt = new Date(before - 3 * DAY_MS).toISOString();
  expect(await warmUp({ provider: 'smtp', startedAt })).toMatchObject([{ startedAt, perDay: fresh.perDay }]);
  expect(await warmUp({ provider: 'smtp', perDay: [7, 7, 7, 7] })).toMatchObject([
    { startedAt, perDay: [7, 7, 7, 7], endsAt: new Date(startOfDay(before) + DAY_MS).toISOString() },
  ]);

  const smtp = { provider: 'smtp' };
  const refused: readonly (readonly [readonly object[], readonly string[]])[] = [
    [[{ provider: 'direct' }], ['/body/warmUps/0/provider']],
    [[{ provider: 'capture' }], ['/body/warmUps/0/provider']],
    [[smtp, smtp], ['/body/warmUps/1/provider']],
    [[{ ...smtp, startedAt: new Date(now() + 10 * DAY_MS).toISOString() }], ['/body/warmUps/0/startedAt']],
    [[{ ...smtp, startedAt, perDay: [7, 7, 7] }], ['/body/warmUps/0/startedAt']],
    [[{ ...smtp, startedAt: 'tomorrow' }], ['/body/warmUps/0/startedAt']],
    [[{ ...smtp, perDay: [] }], ['/body/warmUps/0/perDay']],
    [[{ ...smtp, perDay: [0] }], ['/body/warmUps/0/perDay/0']],
    [[{ ...smtp, perDay: [1.5] }], ['/body/warmUps/0/perDay/0']],
    [[{ ...smtp, perDay: [10_000_001] }], ['/body/warmUps/0/perDay/0']],
    [[{ ...smtp, perDay: Array(91).fill(1) }], ['/body/warmUps/0/perDay']],
    [[smtp, smtp, smtp, smtp], ['/body/warmUps']],
    [[{ ...smtp, day: 1 }], ['/body/warmUps/0/day']],
  ];
  for (const [warmUps, paths] of refused)
    for (const told of [
      await patch({ warmUps }),
      await service.live.post('/v1/domains', { name: 'other.example', warmUps }),
    ]) {
      expect(told.status).toBe(422);
      expect(told.body.error.details.map(({ path }: Email) => path)).toEqual(paths);
    }
  expect(await warmUp({ ...smtp, perDay: Array(90).fill(10_000_000) })).toHaveLength(1);
  const added = await service.live.post('/v1/domains', {
    name: 'new.example',
    provider: 'smtp',
    warmUps: [{ ...smtp, perDay: [3] }],
  });
  expect(added.body.data.warmUps).toMatchObject([{ perDay: [3], today: { day: 1, allowed: 3, claimed: 0 } }]);
  const read = await service.live.get(`/v1/domains/${added.body.data.id}`);
  expect(read.body.data.warmUps).toEqual(added.body.data.warmUps);
});

test('the day shown is that of the database, with what is claimed of it', async () => {
  await warmUp({ provider: 'smtp', startedAt: new Date().toISOString(), perDay: Array(90).fill(3) });
  // Midnight may come in between.
  await service.service.database.query(
    `insert into warm_up_days (domain_id, provider, day, claimed, claimed_bulk, granted)
     select $1, 'smtp', (clock_timestamp() at time zone 'UTC')::date + n, 2, 0, 0 from generate_series(0, 1) n
     on conflict (domain_id, provider, day) do update set claimed = 2`,
    [service.domainId],
  );
  const [shown] = (await service.live.get(`/v1/domains/${service.domainId}`)).body.data.warmUps;
  expect(shown.today).toMatchObject({ allowed: 3, claimed: 2 });
});

test('a schedule that is over is refused, unless it is the one that is there', async () => {
  await warmUp();
  const startedAt = service.today();
  const smtp = { provider: 'smtp', startedAt, perDay: [1, 2] };
  await warmUp(smtp);
  await service.pass(2 * DAY_MS);
  // Sent again as it was read, beside what is to change.
  const again = await patch({ openTracking: true, warmUps: [smtp] });
  expect([again.status, again.body.data.openTracking]).toEqual([200, true]);
  expect((await patch({ openTracking: false, warmUps: [{ provider: 'smtp' }] })).status).toBe(200);
  const other = await patch({ warmUps: [{ provider: 'smtp', perDay: [2, 3] }] });
  expect([other.status, other.body.error.details[0].path]).toEqual([422, '/body/warmUps/0/startedAt']);
  expect(other.body.error.details[0].message).toContain(new Date(startOfDay(now())).toISOString());
  expect((await patch({ warmUps: [{ provider: 'smtp', perDay: [2, 3, 4] }] })).status).toBe(200);
});
