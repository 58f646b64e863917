import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { pathsOf } from './ask.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

describe.each(BOTH_DATABASES)('contacts on %s', (_, environment) => {
  let service: RealService;
  let live: string;
  let inTest: string;

  beforeAll(async () => {
    service = await startRealService(environment);
    live = await service.keyWith('live', ['*']);
    inTest = await service.keyWith('test', ['*']);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const send = (method: string, path: string, body?: unknown, key = live, headers = {}) =>
    service.ask({ method, path, key, headers, ...(body !== undefined && { body }) });
  const post = (body: object, more: { query?: string; key?: string; headers?: object } = {}) =>
    send('POST', `/v1/contacts${more.query ?? ''}`, body, more.key, more.headers);
  const get = (path: string, key = live) => send('GET', `/v1/contacts${path}`, undefined, key);
  const patch = (id: string, body: object, key = live) => send('PATCH', `/v1/contacts/${id}`, body, key);
  const added = async (body: object, key = live) => {
    const told = await post(body, { key });
    if (told.status !== 201) throw new Error(told.text);
    return told.body.data;
  };
  const emails = async (query: string) =>
    (await get(query)).body.data.map(({ email }: { email: string }) => email);
  const consent = { source: 'form', at: '2026-11-01T00:00:00Z' };

  test('a contact is answered with every member', async () => {
    const told = await post({
      email: 'Ada@Example.com',
      firstName: 'Ada',
      properties: { plan: 'pro', seats: 3, vip: true, since: '2026-01-31', gone: null },
    });
    expect(told.status).toBe(201);
    expect(told.body.data).toEqual({
      id: expect.stringMatching(/^con_[0-9a-z]{24}$/),
      livemode: true,
      email: 'Ada@Example.com',
      firstName: 'Ada',
      lastName: null,
      properties: { plan: 'pro', seats: 3, vip: true, since: '2026-01-31' },
      status: 'subscribed',
      audienceIds: [],
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      unsubscribedAt: null,
      lastActivityAt: expect.stringMatching(/Z$/),
    });
    expect((await get(`/${told.body.data.id}`)).body.data).toEqual(told.body.data);
    expect((await get('/ada%40example.COM')).body.data).toEqual(told.body.data);
  });

  test('an address is there once in each environment, whatever its case', async () => {
    await added({ email: 'once@example.com' });
    const again = await post({ email: 'ONCE@example.com' });
    expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);
    expect((await post({ email: 'once@example.com' }, { key: inTest })).body.data.livemode).toBe(false);
    // The ASCII form of the domain is the same address.
    await added({ email: 'x@müller.example' });
    expect((await post({ email: 'x@xn--mller-kva.example' })).status).toBe(409);
  });

  test('upsert merges, answers 200 for a contact that was there, and 201 for a new one', async () => {
    const query = '?upsert=true';
    const first = await post(
      { email: 'up@example.com', firstName: 'A', properties: { a: 1, b: 2 } },
      { query },
    );
    expect(first.status).toBe(201);
    const second = await post(
      { email: 'UP@example.com', lastName: 'B', properties: { b: null, c: 3 } },
      { query },
    );
    expect(second.status).toBe(200);
    expect(second.body.data).toMatchObject({
      id: first.body.data.id,
      email: 'up@example.com',
      firstName: 'A',
      lastName: 'B',
      properties: { a: 1, c: 3 },
    });
  });

  test('the other environment has another contact, or none: 404', async () => {
    const { id } = await added({ email: 'walled@example.com' });
    for (const path of [`/${id}`, '/walled@example.com', `/${id}/activity`])
      expect((await get(path, inTest)).status).toBe(404);
    expect((await patch(id, { firstName: 'X' }, inTest)).status).toBe(404);
    expect((await send('POST', `/v1/contacts/${id}/events`, { name: 'a' }, inTest)).status).toBe(404);
    expect((await get('?email=walled@example.com', inTest)).body.data).toEqual([]);
  });

  test('a name that is neither an id nor an address is 404', async () => {
    for (const name of ['nobody', 'con_1', 'Ada <ada@example.com>'])
      expect((await get(`/${encodeURIComponent(name)}`)).status).toBe(404);
  });

  test.each([
    ['no address', { email: 'no address' }, ['/body/email']],
    ['an address with a name', { email: 'Ada <ada@example.com>' }, ['/body/email']],
    ['bad keys', { email: 'p@example.com', properties: { '1a': 1, [`k${'x'.repeat(64)}`]: 1, ok: 1 } }, 2],
    [
      'bad values',
      { email: 'p@example.com', properties: { a: 'x'.repeat(1_001), b: [], c: {} } },
      ['/body/properties/a', '/body/properties/b', '/body/properties/c'],
    ],
    ['properties that are a list', { email: 'p@example.com', properties: [] }, ['/body/properties']],
    ['a name of 201 characters', { email: 'p@example.com', firstName: 'x'.repeat(201) }, ['/body/firstName']],
    ['a status of the service', { email: 'p@example.com', status: 'bounced' }, ['/body/status']],
    ['consent in a POST', { email: 'p@example.com', consent }, ['/body/consent']],
    [
      '101 properties',
      {
        email: 'p@example.com',
        properties: Object.fromEntries(Array.from({ length: 101 }, (__, n) => [`k${n}`, n])),
      },
      ['/body/properties'],
    ],
  ] as [string, object, string[] | number][])('%s: 422', async (__, body, wrong) => {
    const told = await post(body);
    expect(told.status).toBe(422);
    if (typeof wrong === 'number') expect(pathsOf(told)).toHaveLength(wrong);
    else expect(pathsOf(told)).toEqual(wrong);
  });

  test('a text of 1,000 characters, a key of 64 and a hundred properties are within the limits, one more is not', async () => {
    const hundred = Object.fromEntries(
      Array.from({ length: 100 }, (__, n) => [`k${n}`.padEnd(64, '_'), 'x'.repeat(100)]),
    );
    const { id } = await added({ email: 'full@example.com', properties: { ...hundred } });
    expect(pathsOf(await patch(id, { properties: { more: 'x'.repeat(1_000) } }))).toEqual([
      '/body/properties',
    ]);
    // A character is a code point: an emoji is two UTF-16 units.
    const emoji = (times: number) =>
      post({ email: `e${times}@example.com`, properties: { e: '😀'.repeat(times) } });
    expect((await emoji(1_000)).status).toBe(201);
    expect(pathsOf(await emoji(1_001))).toEqual(['/body/properties/e']);
    const upsert = await post(
      { email: 'full@example.com', properties: { more: 1 } },
      { query: '?upsert=true' },
    );
    expect([upsert.status, pathsOf(upsert)]).toEqual([422, ['/body/properties']]);
    const swapped = await patch(id, {
      properties: { more: 'x'.repeat(1_000), ['k0'.padEnd(64, '_')]: null },
    });
    expect([swapped.status, Object.keys(swapped.body.data.properties).length]).toEqual([200, 100]);
  });

  test('names of 200 characters are stored, also those that are the longest in the index of names', async () => {
    // Each of these notes is two UTF-16 units, and three characters of twelve octets once it is normalised.
    const notes = (count: number) =>
      Array.from({ length: count }, (__, n) => String.fromCodePoint(0x1d15e + ((n ** 3 + n) % 7))).join('');
    const name = { firstName: notes(200), lastName: notes(200) };
    const { id } = await added({ email: 'notes@example.com', ...name });
    expect((await get(`/${id}`)).body.data).toMatchObject(name);
    expect(pathsOf(await patch(id, { firstName: notes(201) }))).toEqual(['/body/firstName']);
  });

  test('PATCH merges properties, and changes what is named alone', async () => {
    const { id } = await added({
      email: 'pat@example.com',
      firstName: 'P',
      lastName: 'Q',
      properties: { a: 1, b: 2 },
    });
    const told = await patch(id, { firstName: null, properties: { a: null, c: 'x' } });
    expect(told.body.data).toMatchObject({ firstName: null, lastName: 'Q', properties: { b: 2, c: 'x' } });
    expect((await patch('pat@example.com', { firstName: 'Z' })).body.data.firstName).toBe('Z');
  });

  test('back to subscribed only with consent, which is kept', async () => {
    const { id } = await added({ email: 'leaver@example.com' });
    const left = await patch(id, { status: 'unsubscribed' });
    const at = left.body.data.unsubscribedAt;
    expect([left.body.data.status, typeof at]).toEqual(['unsubscribed', 'string']);
    expect(pathsOf(await patch(id, { status: 'subscribed' }))).toEqual(['/body/consent']);
    const future = { source: 'form', at: '2999-01-01T00:00:00Z' };
    expect(pathsOf(await patch(id, { status: 'subscribed', consent: future }))).toEqual(['/body/consent/at']);
    const ancient = { source: 'form', at: '0000-01-01T00:00:00Z' };
    expect(pathsOf(await patch(id, { status: 'subscribed', consent: ancient }))).toEqual([
      '/body/consent/at',
    ]);
    expect(pathsOf(await patch(id, { firstName: 'x', consent }))).toEqual(['/body/consent']);
    const upserted = await post(
      { email: 'leaver@example.com', status: 'subscribed' },
      { query: '?upsert=true' },
    );
    expect(upserted.body.data.status).toBe('unsubscribed');
    // The workspace takes back what it did itself, by the consent that it has. PostgreSQL takes no such
    // offset.
    const eastern = { source: 'form', at: '2026-01-01T00:00:00+16:00' };
    const back = await patch(id, { status: 'subscribed', consent: eastern });
    expect(back.body.data).toMatchObject({ status: 'subscribed', unsubscribedAt: null });
    const activity = (await get(`/${id}/activity`)).body.data;
    expect(activity.map(({ type }: { type: string }) => type)).toEqual([
      'subscribed',
      'unsubscribed',
      'created',
    ]);
    expect(activity[0].data).toEqual(eastern);
    // Of one who is subscribed it changes nothing.
    expect((await patch(id, { status: 'subscribed', consent })).body.data.status).toBe('subscribed');
  });

  test('who unsubscribes is suppressed in the live environment, and only there', async () => {
    const suppressed = async (address: string) =>
      (await send('GET', `/v1/suppressions?address=${address}`)).body.data[0]?.reason ?? null;
    const { id } = await added({ email: 'sup@example.com' });
    const at = (await patch(id, { status: 'unsubscribed' })).body.data.unsubscribedAt;
    expect(await suppressed('sup@example.com')).toBe('unsubscribed');
    await patch(id, { status: 'subscribed', consent: { source: 'form', at } });
    expect(await suppressed('sup@example.com')).toBeNull();
    await added({ email: 'out@example.com', status: 'unsubscribed' });
    expect(await suppressed('out@example.com')).toBe('unsubscribed');
    await added({ email: 'tested@example.com', status: 'unsubscribed' }, inTest);
    expect(await suppressed('tested@example.com')).toBeNull();
  });

  test('a new contact begins with what the suppressions say of its address', async () => {
    await send('POST', '/v1/suppressions', { address: 'manual@example.com' });
    expect((await added({ email: 'manual@example.com' })).status).toBe('subscribed');
    const rows = ['bounced', 'complained', 'unsubscribed'].map(
      (reason) => `('${service.workspaceId}', '${reason}@s.example',
      '${reason}@s.example', '${reason}', now())`,
    );
    await service.service.database.query(
      `insert into suppressions (workspace_id, address_key, address, reason, created_at) values ${rows.join(', ')}`,
    );
    for (const reason of ['bounced', 'complained', 'unsubscribed']) {
      const contact = await added({ email: `${reason}@s.example` });
      expect(contact).toMatchObject({ status: reason, unsubscribedAt: expect.any(String) });
      expect((await added({ email: `${reason}@s.example` }, inTest)).status).toBe('subscribed');
    }
    const told = await patch('complained@s.example', { status: 'subscribed', consent });
    expect([told.status, told.body.error.code]).toEqual([409, 'CONFLICT']);
  });

  test('a batch tells of each contact; addresses that come again are merged', async () => {
    const told = await send('POST', '/v1/contacts/batch', {
      contacts: [
        { email: 'b1@example.com', properties: { a: 1, b: 1 } },
        { email: 'wrong' },
        { email: 'B1@example.com', firstName: 'B', properties: { a: null } },
        { email: 'b2@example.com', nonsense: 1 },
        { email: 'once@example.com' },
      ],
    });
    const { data } = told.body;
    expect(data).toMatchObject([
      { index: 0, created: true },
      { index: 1, error: { code: 'VALIDATION_ERROR', details: [{ path: '/body/contacts/1/email' }] } },
      { index: 2, id: data[0].id, created: false },
      { index: 3, error: { details: [{ path: '/body/contacts/3/nonsense' }] } },
      { index: 4, created: false },
    ]);
    for (const { error } of [data[1], data[3]]) expect(error.docs).toEndWith('/docs/errors#VALIDATION_ERROR');
    expect((await get('/b1@example.com')).body.data).toMatchObject({ firstName: 'B', properties: { b: 1 } });
  });

  test('a batch of mistakes alone finds the key of another request, and leaves its own one free', async () => {
    const headers = { 'idempotency-key': 'mistakes-alone' };
    const ask = (contacts: readonly object[]) =>
      service.ask({ key: live, method: 'POST', path: '/v1/contacts/batch', body: { contacts }, headers });
    const mistakes = [{ email: 'no address' }];
    expect((await ask(mistakes)).body.data).toMatchObject([{ error: { code: 'VALIDATION_ERROR' } }]);
    expect((await ask([{ email: 'keyed@people.example' }])).status).toBe(200);
    const other = await ask(mistakes);
    expect([other.status, other.body.error?.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  });

  test('a batch takes a thousand contacts and no more', async () => {
    const contacts = Array.from({ length: 1_000 }, (__, n) => ({ email: `n${n}@bulk.example` }));
    const told = await send('POST', '/v1/contacts/batch', { contacts });
    expect(new Set(told.body.data.map(({ id }: { id: string }) => id)).size).toBe(1_000);
    const more = await send('POST', '/v1/contacts/batch', { contacts: [...contacts, contacts[0]] });
    expect(pathsOf(more)).toEqual(['/body/contacts']);
  });

  test('a list goes by pages, address, status, time and audience', async () => {
    const first = await get('?limit=2');
    expect(first.body.data).toHaveLength(2);
    const second = await get(`?limit=2&after=${first.body.pagination.nextCursor}`);
    expect(second.body.data[0].id < first.body.data[1].id).toBe(true);
    expect(await emails('?email=ONCE@example.com')).toEqual(['once@example.com']);
    expect(await emails('?status=complained')).toEqual(['complained@s.example']);
    expect(await emails('?createdBefore=2020-01-01T00:00:00Z')).toEqual([]);
    expect(pathsOf(await get('?audienceId=aud_none'))).toEqual(['/query/audienceId']);
    // A cursor is bound to the filters of its list.
    const foreign = await get(`?status=bounced&after=${first.body.pagination.nextCursor}`);
    expect(pathsOf(foreign)).toEqual(['/query/after']);
  });

  test('a search finds how addresses and names begin, in any case', async () => {
    await added({ email: 'zoë@search.example', firstName: 'ZOË', lastName: 'van Ärling' });
    await added({ email: 'other@search.example', firstName: 'Otto' });
    const found = (term: string) => emails(`?search=${encodeURIComponent(term)}`);
    for (const term of ['ZOË@', 'zoë', 'VAN ä', 'zoë van Ä'])
      expect(await found(term)).toEqual(['zoë@search.example']);
    await added({ email: 'idn@bücher.example' });
    await added({ email: 'idn2@xn--bcher-kva.example' });
    for (const domain of ['bücher.ex', 'BÜCHER', 'xn--bcher-kva.example', 'Bücher.example'])
      for (const [local, email] of [
        ['idn', 'idn@bücher.example'],
        ['idn2', 'idn2@xn--bcher-kva.example'],
      ])
        expect(await found(`${local}@${domain}`)).toEqual([email]);
    for (const term of ['arling', '%', '_', 'oë']) expect(await found(term)).toEqual([]);
    expect(await emails('?search=b&limit=100')).toContain('b1@example.com');
  });

  test('custom events stand in the activity', async () => {
    const { id } = await added({ email: 'events@example.com' });
    const path = `/v1/contacts/${id}/events`;
    const told = await send('POST', path, { name: 'order.placed', properties: { total: 49.9 } });
    expect([told.status, told.body.data]).toEqual([
      202,
      {
        id: expect.stringMatching(/^act_/),
        contactId: id,
        name: 'order.placed',
        occurredAt: expect.any(String),
      },
    ]);
    const past = new Date(Date.now() - 86_400_000).toISOString();
    await send('POST', '/v1/contacts/events@example.com/events', { name: 'earlier', occurredAt: past });
    const activity = (await get(`/${id}/activity?type=event`)).body.data;
    expect(activity.map(({ name, data }: { name: string; data: object }) => [name, data])).toEqual([
      ['order.placed', { total: 49.9 }],
      ['earlier', {}],
    ]);
    for (const at of [-366 * 86_400_000, 120_000])
      expect(
        pathsOf(await send('POST', path, { name: 'x', occurredAt: new Date(Date.now() + at).toISOString() })),
      ).toEqual(['/body/occurredAt']);
    expect(pathsOf(await send('POST', path, { name: '1' }))).toEqual(['/body/name']);
    expect((await send('POST', '/v1/contacts/none@example.com/events', { name: 'x' })).status).toBe(404);
  });

  test('the export has every contact, and nothing in it that a spreadsheet runs', async () => {
    await added(
      { email: 'formula@example.com', firstName: '=1+1', properties: { note: '@SUM(A1)', size: 3 } },
      inTest,
    );
    const told = await send('GET', '/v1/contacts/export', undefined, inTest);
    expect(told.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header, ...rows] = told.text.replace('\ufeff', '').trimEnd().split('\r\n');
    expect(header).toBe(
      'id,email,first_name,last_name,status,created_at,unsubscribed_at,consent_source,consent_at,audiences,left_audiences,properties.note:string,properties.size:number,properties',
    );
    expect(rows[0]).toContain(",formula@example.com,'=1+1,,subscribed,");
    expect(rows[0]).toEndWith(",'@SUM(A1),3,");
    const all = (await send('GET', '/v1/contacts/export')).text.trimEnd().split('\r\n');
    const [{ count }] = (await service.service.database.query<{ count: number }>(
      'select count(*)::integer as count from contacts where livemode',
    )) as [{ count: number }];
    expect(all).toHaveLength(count + 1);
  });

  test('a repetition with the same key answers the contact and adds none', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const asked = { query: '?upsert=true', headers };
    const first = await post({ email: 'idem@example.com' }, asked);
    const again = await post({ email: 'idem@example.com' }, asked);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    const stored = await service.service.database.query<{ reply: string }>(
      "select reply from idempotency_keys where reply like '%idem@%'",
    );
    expect(stored).toEqual([]);
  });

  test('many requests at once for one new address make one contact', async () => {
    const told = await Promise.all(
      Array.from({ length: 30 }, (__, n) =>
        post({ email: 'race@example.com', properties: { [`p${n}`]: n } }, { query: '?upsert=true' }),
      ),
    );
    expect(told.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(told.filter(({ status }) => status === 200)).toHaveLength(29);
    const { properties } = (await get('/race@example.com')).body.data;
    expect(Object.keys(properties)).toHaveLength(30);
  });
});
