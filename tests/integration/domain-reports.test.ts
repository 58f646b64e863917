import { afterAll, beforeAll, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { createTransport } from 'nodemailer';
import { LARGEST_AGGREGATE } from '../../src/mail/received/inbound-server.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { countReport, MOST_OF_REPORTER_A_DAY, MOST_SOURCES_A_DAY } from '../../src/sending/reports/store.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import {
  dmarcXml,
  type HeadParts,
  mailWith,
  type RecordParts,
  record,
  tlsJson,
} from '../unit/aggregate-reports/forms.ts';
import { startNameServer, type TestNameServer, txt } from './transport/name-server.ts';

let dns: TestNameServer;
let service: LiveService;
let inbound: number;

beforeAll(async () => {
  dns = await startNameServer({
    'reader.example TXT': [txt('v=spf1 ip4:127.0.0.1 -all')],
    'other.example TXT': [txt('v=spf1 ip4:127.0.0.1 -all')],
    ...Object.fromEntries(
      Array.from({ length: MOST_OF_REPORTER_A_DAY + 2 }, (_, host) => [
        `${host}.other.example TXT`,
        [txt('v=spf1 ip4:127.0.0.1 -all')],
      ]),
    ),
  });
  inbound = await freePort();
  service = await startLiveService({
    environment: { INBOUND_SMTP_PORT: String(inbound), DNS_SERVERS: `127.0.0.1:${dns.server.port}` },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});

const DAY_MS = 86_400_000;
const today = (back = 0): string => new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);
const secondsOf = (day: string): number => Date.parse(day) / 1_000;

/** The reply to a mail with that file. */
async function deliver(
  file: Uint8Array | string,
  { to = 'dmarc@send.sender.example', from = 'dmarc@reader.example', raw = mailWith(file) } = {},
): Promise<string> {
  const door = createTransport({ host: '127.0.0.1', port: inbound, ignoreTLS: true });
  try {
    return (await door.sendMail({ envelope: { from, to }, raw })).response;
  } catch (error) {
    return (error as Error & { response: string }).response;
  } finally {
    door.close();
  }
}

let reports = 0;
/** A DMARC report of a day about a domain of the test, with its own id. */
const report = (records: readonly RecordParts[], parts: HeadParts & { readonly back?: number } = {}) =>
  gzipSync(
    dmarcXml(
      records.map((each) => record({ from: 'sender.example', ...each })),
      {
        id: `report-${++reports}`,
        domain: 'sender.example',
        begin: secondsOf(today(parts.back ?? 1)),
        ...parts,
      },
    ),
  );

/** Delivers a report of the second reporter, by one of its hosts. */
const deliverOther = (file: Uint8Array, to: string, host = 'other.example') =>
  deliver(file, {
    to,
    from: `dmarc@${host}`,
    raw: Buffer.from(mailWith(file).toString().replace('dmarc@reader.example', `dmarc@${host}`)),
  });

const sums = async (id = service.domainId, query = '') =>
  (await service.live.get(`/v1/domains/${id}/reports${query}`)).body.data;

/** A further domain, so that the numbers of a test are its own. */
async function addDomain(name: string): Promise<string> {
  const { body } = await service.live.post('/v1/domains', { name });
  expect(body.data.status).toBe('verified');
  return body.data.id;
}

test('without a report the advice names the address, and the records suggest it', async () => {
  const id = await addDomain('none.example');
  const { advice, dmarc, unverified } = await sums(id);
  expect(advice).toEqual({
    code: 'noReports',
    sentence:
      'No report has come in these days: put rua=mailto:dmarc@send.none.example into the DMARC record; receivers report once a day, after your mail.',
    isQuarantineSafe: false,
  });
  expect([dmarc.reports, dmarc.days.length, unverified]).toEqual([0, 30, 0]);
});

test('a DMARC report counts once, by source, alignment and day', async () => {
  const id = await addDomain('once.example');
  const to = 'dmarc@send.once.example';
  const rows = [
    { source: '192.0.2.1', count: '7', dkim: 'pass', spf: 'pass', from: 'once.example' },
    {
      source: '192.0.2.1',
      count: '2',
      dkim: 'fail',
      spf: 'fail',
      disposition: 'quarantine',
      from: 'news.once.example',
    },
    { source: '2001:db8::1', count: '1', dkim: 'fail', spf: 'pass', from: 'once.example' },
    { source: '192.0.2.9', count: '50', from: 'elsewhere.example' },
  ];
  const file = report(rows);
  expect(await deliver(file, { to })).toStartWith('250');
  expect(await deliver(file, { to })).toStartWith('250');
  const { dmarc, unverified } = await sums(id);
  expect(dmarc).toMatchObject({
    reports: 1,
    policy: null,
    totals: { messages: 10, aligned: 8, dkimAligned: 7, spfAligned: 8, quarantined: 2, rejected: 0 },
    sources: [
      { address: '192.0.2.1', messages: 9, aligned: 7 },
      { address: '2001:db8::1', messages: 1, aligned: 1, dkimAligned: 0 },
    ],
    reporters: [{ domain: 'reader.example', reports: 1, messages: 10, policy: 'none' }],
  });
  expect(dmarc.days.at(-2)).toMatchObject({ day: today(1), messages: 10 });
  expect(unverified).toBe(0);
  await deliverOther(file, to);
  expect((await sums(id)).dmarc).toMatchObject({ reports: 2, totals: { messages: 20 } });
});

// rspamd gives the reports of several days one id and one period (`rspamadm dmarc_report 20261122 20261123`).
test('reports with one id and other numbers count each, and each once', async () => {
  const id = await addDomain('days.example');
  const to = 'dmarc@send.days.example';
  const rows = ['3', '4'].map((count) => ({ count, from: 'days.example' }));
  for (const row of [...rows, ...rows])
    expect(await deliver(report([row], { id: 'days' }), { to })).toStartWith('250');
  expect((await sums(id)).dmarc).toMatchObject({ reports: 2, totals: { messages: 7 } });
});

test('a report counts for the nearest domain of the workspace', async () => {
  const parent = await addDomain('near.example');
  const child = await addDomain('mail.near.example');
  const rows = [
    { count: '1', from: 'near.example' },
    { count: '2', from: 'mail.near.example' },
    { count: '4', from: 'a.mail.near.example' },
    { count: '8', from: 'other.near.example' },
  ];
  await deliver(report(rows), { to: 'dmarc@near.example' });
  expect((await sums(parent)).dmarc.totals.messages).toBe(9);
  expect((await sums(child)).dmarc.totals.messages).toBe(6);
});

test('a TLS report is added up by cause', async () => {
  const id = await addDomain('tls.example');
  const day = { 'start-datetime': `${today(1)}T00:00:00Z`, 'end-datetime': `${today(1)}T23:59:59Z` };
  const file = tlsJson({ 'date-range': day }).replaceAll('shop.example', 'tls.example');
  await deliver(gzipSync(file), { to: 'tlsrpt@send.tls.example' });
  expect((await sums(id)).tls).toEqual({
    reports: 1,
    successful: 40,
    failed: 5,
    failures: [
      { type: 'certificate-expired', sessions: 3 },
      { type: 'other', sessions: 2 },
    ],
  });
});

test('forged and foreign reports count for nothing but a number', async () => {
  const id = await addDomain('forged.example');
  const to = 'dmarc@send.forged.example';
  const rows = [{ count: '1000000', from: 'forged.example', dkim: 'fail' }];
  const forged = mailWith(report(rows))
    .toString()
    .replace('dmarc@reader.example', 'noreply-dmarc-support@google.com');
  expect(await deliver('', { to, raw: Buffer.from(forged) })).toStartWith('250');
  expect(await deliver(report([{ from: 'elsewhere.example' }]), { to })).toStartWith('250');
  // Its sender has to know, since a person may have written it.
  expect(await deliver('no report', { to })).toStartWith('550 5.7.1');
  expect(await sums(id)).toMatchObject({ unverified: 3, dmarc: { reports: 0, totals: { messages: 0 } } });
});

test('a report is asked for again while DNS gives no answer about its sender', async () => {
  const { zone } = dns;
  dns.zone = { ...zone, 'reader.example TXT': 'servfail' };
  const file = report([{}]);
  expect(await deliver(file)).toStartWith('451');
  dns.zone = zone;
  expect(await deliver(file)).toStartWith('250');
  expect((await sums()).dmarc.reports).toBe(1);
});

test('only addresses of proven domains take reports, up to 10 MiB', async () => {
  for (const to of ['dmarc@nowhere.example', 'other@send.sender.example', 'tlsrpt@example'])
    expect([to, (await deliver('', { to })).slice(0, 3)]).toEqual([to, '550']);
  const large = Buffer.concat([
    Buffer.from('From: a@reader.example\r\n\r\n'),
    Buffer.alloc(LARGEST_AGGREGATE, 'a\r\n'),
  ]);
  expect(await deliver('', { raw: large })).toStartWith('552');
});

test('the sources of a day are bounded, and its sums are not', async () => {
  const id = await addDomain('many.example');
  const rows = Array.from({ length: MOST_SOURCES_A_DAY + 10 }, (_, at) => ({
    source: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
    count: '1',
    from: 'many.example',
  }));
  await deliver(report(rows), { to: 'dmarc@many.example' });
  const [stored] = await service.service.database.query<{ rows: number; messages: number }>(
    'select count(*)::integer as rows, sum(messages)::integer as messages from dmarc_sums where domain_id = $1',
    [id],
  );
  expect(stored).toEqual({ rows: MOST_SOURCES_A_DAY + 1, messages: MOST_SOURCES_A_DAY + 10 });
});

test('the advice says when p=quarantine is safe', async () => {
  const id = await addDomain('safe.example');
  const to = 'dmarc@send.safe.example';
  for (let back = 1; back <= 14; back++)
    await deliver(
      report(
        [
          { count: '10', from: 'safe.example' },
          { source: '203.0.113.9', count: '1', dkim: 'fail', from: 'safe.example' },
        ],
        { back },
      ),
      { to },
    );
  expect((await sums(id)).advice).toMatchObject({
    code: 'tooFew',
    isQuarantineSafe: false,
    sentence: expect.stringContaining('One receiver alone has reported'),
  });
  await deliverOther(report([{ count: '1', from: 'safe.example' }]), to);
  expect((await sums(id)).advice).toEqual({
    code: 'quarantineIsSafe',
    sentence:
      'p=quarantine is safe: 100 % of the mail of your servers passes DMARC; mail of one other source (14 messages) fails it and would be put aside, so look first for a server of yours among those sources.',
    isQuarantineSafe: true,
  });
  expect((await sums(id, `?from=${today(3)}&to=${today()}`)).advice).toMatchObject({ code: 'tooFew' });
  await deliver(report([{ count: '20', dkim: 'fail', from: 'safe.example' }]), { to });
  expect((await sums(id)).advice).toMatchObject({
    code: 'fixOwnSources',
    sentence: expect.stringContaining(
      '12.4 % of the mail of your servers fails DMARC, most of it from 192.0.2.25',
    ),
  });
});

test('a reporter counts for its share of a day, whatever its hosts are, and others still count', async () => {
  const id = await addDomain('share.example');
  const to = 'dmarc@send.share.example';
  const one = () => report([{ count: '1', from: 'share.example' }]);
  for (let host = 0; host < MOST_OF_REPORTER_A_DAY + 2; host++)
    expect(await deliverOther(one(), to, `${host}.other.example`)).toStartWith('250');
  await deliver(one(), { to });
  expect(await sums(id)).toMatchObject({
    unverified: 2,
    dmarc: {
      totals: { messages: MOST_OF_REPORTER_A_DAY + 1 },
      reporters: [
        { domain: 'other.example', reports: MOST_OF_REPORTER_A_DAY },
        { domain: 'reader.example', reports: 1 },
      ],
    },
  });
});

test('the policy is the one that DNS has, whatever reports state', async () => {
  const id = await addDomain('policy.example');
  await deliver(report([{ from: 'policy.example' }], { policy: '<p>reject</p>' }), {
    to: 'dmarc@policy.example',
  });
  const { dmarc } = await sums(id);
  expect(dmarc.policy).toBeNull();
  // A reporter that has read another record is seen by it.
  expect(dmarc.reporters[0].policy).toBe('reject');
  const status = {
    slot: 'dmarc',
    fingerprint: 'x',
    status: 'verified',
    found: ['v=DMARC1; p=quarantine'],
    error: null,
  };
  await service.service.database.query(
    `update domains set context = jsonb_set(context::jsonb, '{records}', $2::text::jsonb) where id = $1`,
    [id, JSON.stringify([status])],
  );
  expect((await sums(id)).dmarc.policy).toBe('quarantine');
});

test('reports with the same sources in other orders wait for each other in no circle', async () => {
  const id = await addDomain('order.example');
  const { database } = service.service;
  const rows = Array.from({ length: 300 }, (_, at) => ({
    name: 'order.example',
    source: `10.0.${at >> 8}.${at & 255}`,
    messages: 1,
    isDkimAligned: true,
    isSpfAligned: true,
    disposition: 'none' as const,
  }));
  const owners = [{ name: 'order.example', domainId: id }];
  const policy = { domain: 'order.example', p: null, isTesting: false };
  await Promise.all(
    Array.from({ length: 6 }, (_, at) =>
      countReport(
        database,
        { kind: 'dmarc', id: `order-${at}`, organization: '', day: today(1), policy, rows: [] },
        'reader.example',
        { rows: at % 2 === 0 ? rows : rows.toReversed(), owners },
        Date.now(),
      ),
    ),
  );
  expect((await sums(id)).dmarc.totals.messages).toBe(1_800);
});

test('a period has from 1 to 90 days of the calendar', async () => {
  const status = async (query: string) =>
    (await service.live.get(`/v1/domains/${service.domainId}/reports?${query}`)).status;
  expect(await status('from=2026-01-01&to=2026-03-31')).toBe(200);
  for (const query of [
    'from=2026-01-01&to=2026-04-01',
    'from=2026-02-30',
    'from=2026-02-02&to=2026-02-01',
    'days=3',
  ])
    expect([query, await status(query)]).toEqual([query, 422]);
  expect((await service.live.get('/v1/domains/dom_01m7xj1rwp4sersf8ggsa354/reports')).status).toBe(404);
});
