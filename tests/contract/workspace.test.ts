import { expect, test } from 'bun:test';
import { crc32, deflateSync } from 'node:zlib';
import { setPlan } from '../../src/accounts/workspace/commands.ts';
import { findBrand } from '../../src/accounts/workspace/queries.ts';
import { startRealService } from './real-service.ts';

test('GET /v1/workspace answers plan, limits and usage alike in both environments', async () => {
  await using service = await startRealService({ TEST_SENDS_PER_DAY: '100' });
  const { database } = service.service;
  const keys = [await service.keyWith('live', ['*']), await service.keyWith('test', ['emails:send'])];
  const [live, inTest] = keys as [string, string];
  const tell = async () => {
    const told = await Promise.all(keys.map((key) => service.ask({ path: '/v1/workspace', key })));
    expect(told.map(({ status }) => status)).toEqual([200, 200]);
    expect(told[0]?.body).toEqual(told[1]?.body);
    return told[0]?.body.data;
  };
  const send = (key: string, from: string) =>
    service.ask({
      method: 'POST',
      path: '/v1/emails',
      key,
      body: { from, to: ['b@example.com', 'c@example.com'], subject: 'Hello', text: 'Hi' },
    });

  const { id, usage, ...first } = await tell();
  expect(first).toEqual({
    name: 'Workspace',
    defaultFrom: null,
    defaultReplyTo: null,
    branding: { logoUrl: null, colour: null, fontFamily: null, address: null, website: null },
    timeZone: 'UTC',
    language: null,
    emailLanguage: 'en',
    serviceEmails: { invitation: true, domainLost: true, webhookDisabled: true, campaignPaused: true },
    plan: 'free',
    limits: { emailsPerMonth: 3_000, domains: 2 },
    createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    updatedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
  });
  expect(usage).toMatchObject({ emailsSent: 0, testSendsToday: 0, domains: 0 });

  await service.ask({ method: 'POST', path: '/v1/domains', key: live, body: { name: 'shop.test' } });
  expect((await send(live, 'a@shop.test')).status).toBe(202);
  expect((await send(inTest, 'a@anywhere.example')).status).toBe(202);
  expect((await send(inTest, 'nobody')).status).toBe(422);
  // One email is one unit, however many it is for; what was refused took none.
  expect((await tell()).usage).toMatchObject({ emailsSent: 1, testSendsToday: 1, domains: 1 });

  const limits = {
    starter: { emailsPerMonth: 75_000, domains: 5 },
    growth: { emailsPerMonth: 500_000, domains: null },
    unlimited: { emailsPerMonth: null, domains: null },
  };
  for (const plan of ['starter', 'growth', 'unlimited'] as const) {
    await setPlan(database, id, plan);
    expect(await tell()).toMatchObject({
      id,
      plan,
      limits: limits[plan],
      usage: { emailsSent: 1, domains: 1 },
    });
  }
});

test('PATCH /v1/workspace changes what it names, takes back what is null, and says what is wrong', async () => {
  await using service = await startRealService();
  const key = await service.keyWith('live', [
    'workspace:write',
    'domains:write',
    'emails:send',
    'emails:read',
  ]);
  const patch = (body: unknown) => service.ask({ method: 'PATCH', path: '/v1/workspace', key, body });
  await service.ask({ method: 'POST', path: '/v1/domains', key, body: { name: 'shop.test' } });

  const settings = {
    name: ' Ada’s Shop ',
    defaultFrom: 'Shop <shop@mail.shop.test>',
    defaultReplyTo: 'help@elsewhere.example',
    timeZone: 'Asia/Kathmandu',
    branding: {
      colour: '#0F766E',
      fontFamily: 'georgia',
      address: 'Main Street 1\n1010 Vienna',
      website: 'https://shop.example/',
    },
  };
  const set = await patch(settings);
  expect(set.status).toBe(200);
  const held = {
    ...settings,
    name: 'Ada’s Shop',
    branding: { ...settings.branding, colour: '#0f766e', logoUrl: null },
  };
  expect(set.body.data).toMatchObject(held);
  expect((await patch({ branding: { address: null } })).body.data).toMatchObject({
    ...held,
    branding: { ...held.branding, address: null },
  });
  expect((await patch({ branding: {} })).body.data).toMatchObject({ defaultFrom: settings.defaultFrom });

  // From the next request on the defaults of the workspace fill the gaps of a request; its own values count.
  const send = async (body: object) => {
    const sent = await service.ask({
      method: 'POST',
      path: '/v1/emails',
      key,
      body: { to: 'b@example.com', subject: 'Hello', text: 'Hi', ...body },
    });
    if (sent.status !== 202) return sent.body.error;
    const { data } = (await service.ask({ path: `/v1/emails/${sent.body.data.id}`, key })).body;
    return [data.from, data.replyTo];
  };
  expect(await send({})).toEqual([settings.defaultFrom, [settings.defaultReplyTo]]);
  expect(await send({ from: 'me@shop.test', replyTo: ['x@y.example'] })).toEqual([
    'me@shop.test',
    ['x@y.example'],
  ]);
  const reset = await patch({
    defaultFrom: null,
    defaultReplyTo: null,
    branding: { colour: null, fontFamily: null, website: null },
  });
  expect(reset.body.data).toMatchObject({
    defaultFrom: null,
    defaultReplyTo: null,
    timeZone: 'Asia/Kathmandu',
  });
  expect(await send({ from: 'me@shop.test' })).toEqual(['me@shop.test', []]);
  expect((await send({})).details).toEqual([
    { path: '/body/from', message: expect.stringContaining('PATCH /v1/workspace') },
  ]);

  const wrong: readonly (readonly [object, string])[] = [
    [{}, '/body'],
    [{ name: '' }, '/body/name'],
    [{ name: ' ' }, '/body/name'],
    [{ name: 'a'.repeat(101) }, '/body/name'],
    [{ name: 'a\u202eb' }, '/body/name'],
    [{ defaultFrom: 'nobody' }, '/body/defaultFrom'],
    [{ defaultFrom: 'a@elsewhere.example' }, '/body/defaultFrom'],
    [{ defaultReplyTo: 'a@b.example, c@d.example' }, '/body/defaultReplyTo'],
    [{ timeZone: '+01:00:00' }, '/body/timeZone'],
    [{ timeZone: 'Mars/Olympus' }, '/body/timeZone'],
    [{ timeZone: '' }, '/body/timeZone'],
    [{ branding: { colour: 'red' } }, '/body/branding/colour'],
    [{ branding: { address: ' \n ' } }, '/body/branding/address'],
    [{ branding: { address: 'a'.repeat(501) } }, '/body/branding/address'],
    [{ branding: { address: 'a\u0007b' } }, '/body/branding/address'],
    [{ branding: { fontFamily: 'Comic Sans' } }, '/body/branding/fontFamily'],
    [{ branding: { fontFamily: 'Georgia, Times, serif' } }, '/body/branding/fontFamily'],
    [{ branding: { website: 'javascript:alert(1)' } }, '/body/branding/website'],
    [{ branding: { website: 'https://a:b@shop.example' } }, '/body/branding/website'],
    [{ branding: { website: 'shop.example' } }, '/body/branding/website'],
    [{ branding: { logoUrl: 'https://evil.example/x.png' } }, '/body/branding/logoUrl'],
    [{ plan: 'unlimited' }, '/body/plan'],
  ];
  for (const [body, path] of wrong) {
    const told = await patch(body);
    expect([body, told.status, told.body.error.details?.[0]?.path]).toEqual([body, 422, path]);
  }
  expect((await patch({ timeZone: 'UTC', name: 'a'.repeat(100) })).status).toBe(200);
});

test('the logo is served to everybody, as what it is, at an address whose content never changes', async () => {
  await using service = await startRealService();
  const { database } = service.service;
  const key = await service.keyWith('live', ['workspace:write']);
  const put = (body: Uint8Array, headers = { 'content-type': 'image/png' }) =>
    service.ask({ method: 'PUT', path: '/v1/workspace/logo', key, body, headers });
  const addressOf = async (width: number): Promise<string> => {
    const told = await put(pictureOf(width));
    expect(told.status).toBe(200);
    return told.body.data.branding.logoUrl;
  };

  const first = await addressOf(1);
  expect(first).toMatch(/^http:\/\/localhost:3000\/logos\/[0-9a-f]{64}\.png$/);
  const fetched = await fetch(`${service.url}${new URL(first).pathname}`);
  expect(Object.fromEntries(fetched.headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; sandbox",
  });
  expect(Buffer.from(await fetched.bytes()).equals(pictureOf(1))).toBe(true);
  expect(await findBrand(database, service.workspaceId, 'https://mail.example')).toEqual({
    name: 'Workspace',
    address: null,
    website: null,
    colour: null,
    fontFamily: null,
    logoUrl: `https://mail.example${new URL(first).pathname}`,
  });
  expect(await addressOf(1)).toBe(first);

  // Ten earlier ones stay, since emails show them.
  const later = [];
  for (let width = 2; width <= 12; width++) later.push(await addressOf(width));
  const statusOf = async (address: string) => (await service.ask({ path: new URL(address).pathname })).status;
  expect(await statusOf(first)).toBe(404);
  expect(await Promise.all(later.map(statusOf))).toEqual(later.map(() => 200));

  for (const [body, type, status, code] of [
    [Buffer.from('<svg/>'), 'image/svg+xml', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [Buffer.from('<svg/>'), 'image/png', 422, 'VALIDATION_ERROR'],
    [Buffer.alloc(0), 'image/png', 422, 'VALIDATION_ERROR'],
    [Buffer.alloc(1_048_576), 'image/png', 422, 'VALIDATION_ERROR'],
    [Buffer.alloc(1_048_577), 'image/png', 413, 'PAYLOAD_TOO_LARGE'],
  ] as const) {
    const told = await put(body, { 'content-type': type });
    expect([told.status, told.body.error.code]).toEqual([status, code]);
    if (status === 422) expect(told.body.error.details[0].path).toBe('/body');
  }
  for (const path of ['/logos/x.png', `/logos/${'0'.repeat(64)}.png`, `/logos/${'0'.repeat(64)}.svg`])
    expect((await service.ask({ path })).status).toBe(404);

  const remove = () => service.ask({ method: 'DELETE', path: '/v1/workspace/logo', key });
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
  expect(await Promise.all(later.map(statusOf))).toEqual(later.map(() => 404));
  expect((await service.ask({ path: '/v1/workspace', key })).body.data.branding.logoUrl).toBeNull();
});

/** A white PNG of that width and one row. */
function pictureOf(width: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const framed = Buffer.alloc(12 + data.length);
    framed.writeUInt32BE(data.length);
    framed.write(type, 4, 'latin1');
    data.copy(framed, 8);
    framed.writeUInt32BE(crc32(framed.subarray(4, -4)), 8 + data.length);
    return framed;
  };
  const header = Buffer.from([0, 0, 0, width, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
  const row = deflateSync(Buffer.concat([Buffer.from([0]), Buffer.alloc(width, 0xff)]));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', row),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
