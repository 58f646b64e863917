import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trippedBy } from '../../src/automation/campaigns/sending/guards.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { lowestIdAt, mintId } from '../../src/platform/db/ids.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

// The rules of Gmail and Yahoo for bulk senders, held against a message of a campaign as it leaves
// (docs/bulk-mail.md).

const missing = Bun.which('spamassassin') === null;
if (missing)
  console.log(
    'Not shown here, since the Debian package spamassassin is not installed: the score of a message of a campaign.',
  );

const HTML = `<html><body><h1>Hello {{ contact.firstName }}</h1>
<p>This month we have three new kinds of tea, and a shop in Berlin. Come and taste them on Saturday, from ten to four.</p>
<p><a href="https://shop.sender.example/tea">See the new teas</a></p><p>Your tea shop, Main Street 1, Berlin</p></body></html>`;

let service: LiveService;
let raw: string;

beforeAll(async () => {
  service = await startLiveService();
  const { live } = service;
  const [workspace] = await service.service.database.query<{ id: string }>('select id from workspaces');
  const audienceId = await manyPeople(service.service.database, workspace?.id ?? '', 1);
  const said = { from: 'Tea shop <news@sender.example>', subject: 'New teas in November', html: HTML };
  const { id } = (await live.post('/v1/campaigns', { name: 'November', audienceId, ...said })).body.data;
  expect((await live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  const captured = await eventually('it is captured', async () => {
    const [one] = (await live.get('/v1/captured')).body.data;
    return one;
  });
  raw = (await live.get(`/v1/captured/${captured.id}`)).body.data.raw;
});
afterAll(() => service[Symbol.asyncDispose]());

/** The values of a header field, unfolded. */
const fields = (name: string): readonly string[] =>
  (raw.split('\r\n\r\n')[0] ?? '')
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .flatMap((line) =>
      line.toLowerCase().startsWith(`${name}:`) ? [line.slice(name.length + 1).trim()] : [],
    );

describe('a message of a campaign', () => {
  test('is signed by DKIM for the domain of its From, with RSA of 2048 bits', () => {
    const signatures = fields('dkim-signature');
    expect(signatures.length).toBeGreaterThan(0);
    for (const signature of signatures) expect(signature).toMatch(/\bd=sender\.example;/);
    const rsa = signatures.find((signature) => signature.includes('a=rsa-sha256')) ?? '';
    expect(Buffer.from(/\bb=([^;]*)$/.exec(rsa)?.[1] ?? '', 'base64')).toHaveLength(256);
  });

  test('offers to unsubscribe with one click, which its signatures cover', () => {
    expect(fields('list-unsubscribe')).toHaveLength(1);
    expect(fields('list-unsubscribe')[0]).toMatch(/^<https?:\/\/[^>]+\/t\/u\/[^>]+>$/);
    expect(fields('list-unsubscribe-post')).toEqual(['List-Unsubscribe=One-Click']);
    for (const signature of fields('dkim-signature')) {
      const covered = /\bh=([^;]*)/.exec(signature)?.[1]?.replace(/\s/g, '').toLowerCase().split(':') ?? [];
      const wanted = [
        'from',
        'subject',
        'list-unsubscribe',
        'list-unsubscribe-post',
        'list-id',
        'feedback-id',
      ];
      expect(covered).toEqual(expect.arrayContaining(wanted));
    }
  });

  test('shows a link to unsubscribe in its text', () => {
    const body = raw.slice(raw.indexOf('\r\n\r\n')).replaceAll('=\r\n', '').replaceAll('=3D', '=');
    expect(body).toMatch(/<a href="https?:\/\/[^"]+\/t\/u\/[^"]+"[^>]*>Unsubscribe<\/a>/);
    expect(body).toMatch(/\nUnsubscribe: https?:\/\/\S+\/t\/u\//);
  });

  test('has each field that RFC 5322 wants once, and says what kind of mail it is', () => {
    for (const name of ['from', 'to', 'date', 'message-id', 'subject', 'mime-version'])
      expect([name, fields(name).length]).toEqual([name, 1]);
    expect(fields('from')).toEqual(['Tea shop <news@sender.example>']);
    expect(fields('message-id')[0]).toMatch(/^<em_\w+@sender\.example>$/);
    expect(fields('precedence')).toEqual(['bulk']);
    expect(fields('list-id')[0]).toEndWith('.sender.example>');
  });

  test.if(!missing)('gets less than one point from SpamAssassin (local tests only)', async () => {
    const child = Bun.spawn(['spamassassin', '-L', '-t'], {
      stdin: Buffer.from(raw),
      stdout: 'pipe',
      stderr: 'ignore',
    });
    const report = await new Response(child.stdout).text();
    const score = Number(/^X-Spam-Status: \w+, score=(-?[\d.]+)/m.exec(report)?.[1]);
    expect(score < 1 ? 'less than one' : report).toBe('less than one');
  });
});

test('pauses above three complaints of a thousand, and not at three', async () => {
  const { database } = service.service;
  const campaignId = mintId('cmp', Date.now());
  const emails = lowestIdAt('em', Date.now());
  await database.query(
    `insert into campaign_recipients (campaign_id, contact_id, state, email_id, complained_at)
     select $1, 'con_' || lpad(n::text, 24, '0'), 'sent', $2, case when n <= 3 then now() end from generate_series(1, 1000) n`,
    [campaignId, emails],
  );
  const turn = { campaignId, context: { resumedAt: Date.now() - 1_000 } } as Parameters<typeof trippedBy>[1];
  const { config } = loaded();
  const limits = { bounceRate: config.campaignBounceRate, complaintRate: config.campaignComplaintRate };
  expect(await trippedBy(database, turn, limits, '')).toBeNull();
  await database.query(
    `update campaign_recipients set complained_at = now() where campaign_id = $1 and contact_id = 'con_' || lpad('500', 24, '0')`,
    [campaignId],
  );
  expect(await trippedBy(database, turn, limits, '')).toBe('complaint_rate');
  // Turned off with 0.
  expect(await trippedBy(database, turn, { ...limits, complaintRate: 0 }, '')).toBeNull();
});

test('pauses above fifty bounces of a thousand, and not at fifty', async () => {
  const { database } = service.service;
  const campaignId = mintId('cmp', Date.now());
  const emails = lowestIdAt('em', Date.now());
  await database.query(
    `insert into campaign_recipients (campaign_id, contact_id, state, email_id, bounced_at)
     select $1, 'con_' || lpad(n::text, 24, '0'), case when n <= 50 then 'failed' else 'sent' end, $2,
       case when n <= 50 then now() end from generate_series(1, 1000) n`,
    [campaignId, emails],
  );
  const turn = { campaignId, context: { resumedAt: Date.now() - 1_000 } } as Parameters<typeof trippedBy>[1];
  const { config } = loaded();
  const limits = { bounceRate: config.campaignBounceRate, complaintRate: config.campaignComplaintRate };
  expect(await trippedBy(database, turn, limits, '')).toBeNull();
  await database.query(
    `update campaign_recipients set state = 'failed', bounced_at = now() where campaign_id = $1 and contact_id = 'con_' || lpad('500', 24, '0')`,
    [campaignId],
  );
  expect(await trippedBy(database, turn, limits, '')).toBe('bounce_rate');
  expect(await trippedBy(database, turn, { ...limits, bounceRate: 0 }, '')).toBeNull();
});

/** The default settings. */
function loaded() {
  const read = loadConfig({});
  if ('problems' in read) throw new Error(read.problems.join());
  return read;
}

const ROOT = join(import.meta.dir, '../..');
const page = readFileSync(join(ROOT, 'docs/bulk-mail.md'), 'utf8');
const named = [...page.matchAll(/`([^`]+)` · \[[^\]]+\]\(\.\.\/(tests\/[^)]+)\)/g)].map(
  ([, name = '', file = '']) => ({ name, file }),
);

test('every rule on the page of bulk mail names a test that is there, or says who has to keep it', () => {
  const rules = page.split('\n').filter((line) => /^\| (?!Rule|Who|---)/.test(line));
  expect(rules.length).toBeGreaterThan(9);
  for (const rule of rules) expect(rule).toMatch(/\(\.\.\/tests\/|\| The operator/);
  for (const { name, file } of named) {
    expect(existsSync(join(ROOT, file))).toBeTrue();
    expect([file, name, readFileSync(join(ROOT, file), 'utf8').includes(`'${name}'`)]).toEqual([
      file,
      name,
      true,
    ]);
  }
});
