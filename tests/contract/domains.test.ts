import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { setPlan } from '../../src/accounts/workspace/commands.ts';
import { pathsOf } from './ask.ts';
import { type RealService, startRealService } from './real-service.ts';

let service: RealService;
let live: string;
let inTest: string;

beforeAll(async () => {
  service = await startRealService({
    EHLO_NAME: 'mail.posthorn.example',
    PUBLIC_URL: 'https://post.example.com',
  });
  await plan('growth');
  live = await service.keyWith('live', ['*']);
  inTest = await service.keyWith('test', ['*']);
});
afterAll(() => service[Symbol.asyncDispose]());

/** A key learns of a plan at its next look-up, so keys are made afterwards. */
async function plan(name: 'free' | 'growth') {
  const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
  await setPlan(service.service.database, row?.id ?? '', name);
}

const add = (body: object, key = live, headers = {}) =>
  service.ask({ method: 'POST', path: '/v1/domains', key, body, headers });
const added = async (name: string, more: object = {}) => (await add({ name, ...more })).body.data;
const get = (id: string, key = live) => service.ask({ path: `/v1/domains/${id}`, key });
const remove = (id: string, key = live) => service.ask({ method: 'DELETE', path: `/v1/domains/${id}`, key });
const patch = (id: string, body: object) =>
  service.ask({ method: 'PATCH', path: `/v1/domains/${id}`, key: live, body });
const verify = (id: string, key = live) =>
  service.ask({ method: 'POST', path: `/v1/domains/${id}/verify`, key });

describe('POST /v1/domains', () => {
  test('answers the domain with every member and every record', async () => {
    const reply = await add({ name: 'one.example', trackingSubdomain: 'links' });
    expect(reply.status).toBe(201);
    const { dnsRecords, dkimKeys, ...domain } = reply.body.data;
    expect(domain).toEqual({
      id: expect.stringMatching(/^dom_[0-9a-z]{24}$/),
      name: 'one.example',
      status: 'verified',
      livemode: true,
      provider: 'capture',
      fallbacks: [],
      openTracking: false,
      clickTracking: false,
      trackingDomain: 'links.one.example',
      returnPath: 'send.one.example',
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      verifiedAt: expect.stringMatching(/Z$/),
      warmUps: [],
      lastCheckedAt: null,
    });
    const selector = `svc-${domain.id.slice(-6)}`;
    expect(dkimKeys).toEqual([
      {
        selector,
        status: 'active',
        recordNames: [`${selector}._domainkey.one.example`, `${selector}-ed._domainkey.one.example`],
        removableAt: null,
      },
    ]);
    const shown = (dnsRecords as Record<string, unknown>[]).map(
      ({ purpose, type, name, priority, required }) => [purpose, type, name, priority, required],
    );
    expect(shown).toEqual([
      ['dkim', 'TXT', `${selector}._domainkey.one.example`, null, true],
      ['dkim', 'TXT', `${selector}-ed._domainkey.one.example`, null, false],
      ['spf', 'TXT', 'send.one.example', null, true],
      ['mx', 'MX', 'send.one.example', 10, true],
      ['dmarc', 'TXT', '_dmarc.one.example', null, false],
      ['tracking', 'CNAME', 'links.one.example', null, false],
    ]);
    const values = (dnsRecords as { value: string }[]).map(({ value }) => value);
    expect(values[0]).toMatch(/^v=DKIM1; k=rsa; p=[A-Za-z0-9+/]{392}$/);
    expect(values[1]).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
    expect(values.slice(2)).toEqual([
      'v=spf1 a:mail.posthorn.example ~all',
      'mail.posthorn.example',
      'v=DMARC1; p=none;',
      'post.example.com',
    ]);
    expect((await get(domain.id)).body.data).toEqual(reply.body.data);
  });

  test.each([
    ['UPPER.Two.Example', 'upper.two.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.test', 'xn--bcher-kva.test'],
    ['a.b.c.test', 'a.b.c.test'],
    [' dot.example.\n', 'dot.example'],
    ['shop.localhost', 'shop.localhost'],
    ['shop.invalid', 'shop.invalid'],
  ])('%s is kept as %s, and verified at once', async (name, stored) => {
    const reply = await add({ name });
    expect(reply.body.data).toMatchObject({ name: stored, status: 'verified' });
  });

  test.each([
    '192.0.2.1',
    '[2001:db8::1]',
    '2001:db8::1',
    '0x7f.1',
    'com',
    'test',
    'localhost',
    'co.uk',
    'https://shop.example',
    'shop.example/path',
    'shop.example:25',
    'me@shop.example',
    '.shop.example',
    'shop..example',
    '-shop.example',
    'shop_1.example',
    'shop .example',
    'shop.example\u0000',
    '*.example.com',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(120)}example.com`,
    `${'abcdefg.'.repeat(30)}test`,
    'sh%6fp.example',
  ])('%s is no domain to send from: 422', async (name) => {
    expect(pathsOf(await add({ name }))).toEqual(['/body/name']);
  });

  test.each<[string, object, string]>([
    ['no name', {}, '/body/name'],
    ['a selector with a dot', { name: 'x.example', dkimSelector: 'a.b' }, '/body/dkimSelector'],
    [
      'a selector that is too long',
      { name: 'x.example', dkimSelector: 'a'.repeat(61) },
      '/body/dkimSelector',
    ],
    ['a subdomain of two labels', { name: 'x.example', trackingSubdomain: 'a.b' }, '/body/trackingSubdomain'],
    ['two hosts of one name', { name: 'x.example', trackingSubdomain: 'send' }, '/body/trackingSubdomain'],
    ['an unknown member', { name: 'x.example', region: 'eu' }, '/body/region'],
  ])('%s: 422', async (_, body, path) => expect(pathsOf(await add(body))).toEqual([path]));

  test('takes the chosen settings', async () => {
    const domain = await added('chosen.example', { returnPathSubdomain: 'bounces', dkimSelector: 'mine' });
    expect(domain.returnPath).toBe('bounces.chosen.example');
    expect(domain.dnsRecords[0].name).toBe('mine._domainkey.chosen.example');
  });

  test('answers 409 for a name that exists, however it is written', async () => {
    await added('twice.example');
    const reply = await add({ name: 'TWICE.example' });
    expect([reply.status, reply.body.error.code]).toEqual([409, 'CONFLICT']);
  });

  test('adds a name once of 20 parallel additions', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => add({ name: 'race.example' })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  test('leaves a real name pending until its records are seen', async () => {
    const { status, verifiedAt, dnsRecords } = await added('posthorn-nobody-owns-this.com');
    expect({ status, verifiedAt }).toEqual({ status: 'pending', verifiedAt: null });
    expect(dnsRecords[0]).toMatchObject({ status: 'pending', found: [], error: null });
  });
});

describe('GET /v1/domains', () => {
  test('lists domains newest first, by page, without removed ones', async () => {
    const names = ['p1.test', 'p2.test', 'p3.test'];
    const ids: string[] = [];
    for (const name of names) ids.unshift((await added(name)).id);
    await remove(ids[1] ?? '');
    const first = await service.ask({ path: '/v1/domains?limit=1', key: live });
    expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
    const next = await service.ask({
      path: `/v1/domains?limit=1&after=${first.body.pagination.nextCursor}`,
      key: live,
    });
    expect(next.body.data.map(({ id }: { id: string }) => id)).toEqual([ids[2]]);
  });

  test('shows the same domains in both environments', async () => {
    const { id } = await added('shared.test');
    expect((await get(id, inTest)).body.data.livemode).toBe(true);
    expect((await add({ name: 'shared.test' }, inTest)).status).toBe(409);
    expect((await verify(id, inTest)).status).toBe(200);
    expect((await remove(id)).status).toBe(204);
    expect((await get(id, inTest)).status).toBe(404);
  });

  test('forbids a test key to change or remove a domain', async () => {
    const domain = await added('safe.test');
    const path = `/v1/domains/${domain.id}`;
    for (const told of [
      await remove(domain.id, inTest),
      await service.ask({ method: 'PATCH', path, key: inTest, body: { openTracking: true } }),
      await service.ask({ method: 'PATCH', path, key: inTest, body: { provider: null } }),
      await service.ask({ method: 'POST', path: `${path}/rotate-dkim`, key: inTest }),
    ]) {
      expect([told.status, told.body.error.code]).toEqual([403, 'FORBIDDEN']);
      expect(told.body.error.message).toContain('only a live key may change or remove it');
    }
    const absent = `${domain.id.slice(0, -1)}${domain.id.endsWith('0') ? 1 : 0}`;
    expect((await remove(absent, inTest)).status).toBe(404);
    expect((await get(domain.id)).body.data).toEqual(domain);
  });

  test('keeps private DKIM keys out of answers, storage and logs', async () => {
    const { id } = await added('secret.test');
    const [row] = await service.service.database.query<{ rsa: string; ed25519: string }>(
      'select rsa, ed25519 from domain_keys where domain_id = $1',
      [id],
    );
    expect(row?.rsa).toStartWith('sealed:1:');
    expect(row?.ed25519).toStartWith('sealed:1:');
    expect((await get(id)).text).not.toContain('PRIVATE');
    expect(service.logged()).not.toContain('PRIVATE KEY');
  });
});

describe('PATCH /v1/domains/{id}', () => {
  test('keeps the settings that are left out', async () => {
    const { id } = await added('change.test');
    expect((await patch(id, { openTracking: true })).body.data).toMatchObject({
      openTracking: true,
      clickTracking: false,
    });
    const reply = await patch(id, { clickTracking: true });
    expect(reply.body.data).toMatchObject({ openTracking: true, clickTracking: true });
    expect((await get(id)).body.data).toEqual(reply.body.data);
  });

  test('answers 422 to an empty body, unknown members and wrong types', async () => {
    const { id } = await added('change2.test');
    expect((await patch(id, {})).status).toBe(422);
    expect(pathsOf(await patch(id, { name: 'other.test' }))).toEqual(['/body/name']);
    expect(pathsOf(await patch(id, { openTracking: 'yes' }))).toEqual(['/body/openTracking']);
  });
});

describe('POST /v1/domains/{id}/verify', () => {
  test('checks DNS again and says when', async () => {
    const { id } = await added('again.test');
    const { body, status } = await verify(id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'verified', lastCheckedAt: expect.stringMatching(/Z$/) });
  });

  test('answers ten parallel calls alike', async () => {
    const { id } = await added('parallel.test');
    const replies = await Promise.all(Array.from({ length: 10 }, () => verify(id)));
    for (const { status, body } of replies) {
      expect(status).toBe(200);
      expect(body.data.lastCheckedAt).not.toBeNull();
    }
  });
});

describe('DELETE /v1/domains/{id}', () => {
  test('removes the domain once, destroys its keys and frees its name', async () => {
    const { id } = await added('gone.test');
    expect((await remove(id)).status).toBe(204);
    expect((await remove(id)).status).toBe(404);
    expect((await get(id)).status).toBe(404);
    expect((await patch(id, { openTracking: true })).status).toBe(404);
    expect((await verify(id)).status).toBe(404);
    const keys = await service.service.database.query('select 1 from domain_keys where domain_id = $1', [id]);
    expect(keys).toEqual([]);
    const again = await added('gone.test');
    expect(again.id).not.toBe(id);
  });
});

describe('sending from a domain', () => {
  const send = (from: string) =>
    service.ask({
      method: 'POST',
      path: '/v1/emails',
      key: live,
      body: { from, to: 'a@b.example', subject: 'x', text: 'x' },
    });

  test('needs a verified domain or a subdomain of one', async () => {
    const { id } = await added('from.test');
    await added('sub.above.test');
    expect((await send('a@from.test')).status).toBe(202);
    expect((await send('a@FROM.test')).status).toBe(202);
    expect((await send('a@deep.mail.from.test')).status).toBe(202);
    for (const other of ['a@above.test', 'a@notfrom.test', 'a@from.test.example', 'a@other.test'])
      expect((await send(other)).body.error.code).toBe('FORBIDDEN');
    await remove(id);
    expect((await send('a@from.test')).body.error.code).toBe('FORBIDDEN');
  });
});

describe('POST /v1/domains with an Idempotency-Key', () => {
  test('adds one domain and replays its DKIM records', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const one = await add({ name: 'once.test' }, live, headers);
    const other = await add({ name: 'once.test' }, live, headers);
    expect([one.status, other.status]).toEqual([201, 201]);
    expect(other.headers.get('idempotency-replayed')).toBe('true');
    expect(other.text).toBe(one.text);
    const conflict = await add({ name: 'another.test' }, live, headers);
    expect(conflict.body.error.code).toBe('IDEMPOTENCY_CONFLICT');
  });

  test('leaves the key free after a refusal', async () => {
    await added('refused.test');
    const headers = { 'idempotency-key': crypto.randomUUID() };
    expect((await add({ name: 'refused.test' }, live, headers)).status).toBe(409);
    expect((await add({ name: 'accepted.test' }, live, headers)).status).toBe(201);
  });
});
