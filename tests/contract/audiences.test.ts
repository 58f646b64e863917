import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { pathsOf } from './ask.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

describe.each(BOTH_DATABASES)('audiences on %s', (_, environment) => {
  let service: RealService;
  let live: string;
  let inTest: string;

  beforeAll(async () => {
    service = await startRealService(environment);
    live = await service.keyWith('live', ['*']);
    inTest = await service.keyWith('test', ['*']);
    for (const [email, plan, seats] of [
      ['ada@example.com', 'pro', 3],
      ['bob@example.com', 'free', 1],
      ['cy@example.com', 'pro', 9],
    ])
      await send('POST', '/v1/contacts', { email, properties: { plan, seats } });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const send = (method: string, path: string, body?: unknown, key = live) =>
    service.ask({ method, path, key, ...(body !== undefined && { body }) });
  const made = async (body: object, key = live) => {
    const told = await send('POST', '/v1/audiences', body, key);
    if (told.status !== 201) throw new Error(told.text);
    return told.body.data;
  };
  const emailsOf = async (path: string): Promise<string[]> =>
    (await send('GET', path)).body.data.map(({ email }: { email: string }) => email).toSorted();
  const plan = (value: string) => ({ field: 'properties.plan', operator: 'eq', value });

  test('a part of an address finds the labels of an international domain, which are stored in ASCII', async () => {
    const email = 'anna@bücher.example';
    await send('POST', '/v1/contacts', { email });
    for (const [operator, value, count] of [
      ['contains', 'BÜCHER.example', 1],
      ['contains', 'xn--bcher-kva', 1],
      ['endsWith', '@bücher.example', 1],
      ['startsWith', 'anna@bücher', 1],
      ['contains', 'büche', 0],
      ['contains', 'ü', 0],
    ] as const) {
      const told = await send('POST', '/v1/audiences/preview', {
        filter: { field: 'email', operator, value },
      });
      expect([value, told.body.data.count]).toEqual([value, count]);
    }
    expect((await send('DELETE', `/v1/contacts/${encodeURIComponent(email)}`)).status).toBe(204);
  });

  test('a static audience is answered with every member, changed and deleted', async () => {
    const audience = await made({ name: 'News' });
    expect(audience).toEqual({
      id: expect.stringMatching(/^aud_[0-9a-z]{24}$/),
      livemode: true,
      name: 'News',
      description: null,
      type: 'static',
      filter: null,
      public: false,
      confirm: false,
      contactCount: 0,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    const path = `/v1/audiences/${audience.id}`;
    const changed = await send('PATCH', path, { name: 'Newer', description: 'Monthly', public: true });
    expect(changed.body.data).toMatchObject({ name: 'Newer', description: 'Monthly', public: true });
    expect((await send('PATCH', path, { description: null })).body.data.description).toBeNull();
    expect((await send('GET', '/v1/audiences')).body.data[0].id).toBe(audience.id);
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as [string, object?][])
      expect((await send(method, path, body, inTest)).status).toBe(404);
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('GET', path)).status).toBe(404);
  });

  test('members are added by id and by address, once, and removed', async () => {
    const { id } = await made({ name: 'Members' });
    const path = `/v1/audiences/${id}/contacts`;
    const ada = (await send('GET', '/v1/contacts/ada@example.com')).body.data;
    const asked = {
      contactIds: [ada.id, 'con_nobody'],
      emails: ['ADA@example.com', 'bob@example.com', 'no@example.com', 'x'],
    };
    expect((await send('POST', path, asked)).body.data).toEqual({
      added: 2,
      alreadyIn: 0,
      notFound: ['con_nobody', 'no@example.com', 'x'],
    });
    expect((await send('POST', path, { emails: ['ada@example.com'] })).body.data).toEqual({
      added: 0,
      alreadyIn: 1,
      notFound: [],
    });
    expect(await emailsOf(path)).toEqual(['ada@example.com', 'bob@example.com']);
    expect(await emailsOf(`/v1/contacts?audienceId=${id}`)).toEqual(['ada@example.com', 'bob@example.com']);
    expect((await send('GET', `/v1/audiences/${id}`)).body.data.contactCount).toBe(2);
    expect((await send('GET', `/v1/contacts/${ada.id}`)).body.data.audienceIds).toEqual([id]);
    expect((await send('DELETE', `${path}/ada@example.com`)).status).toBe(204);
    expect((await send('DELETE', `${path}/ada@example.com`)).status).toBe(404);
    const activity = (await send('GET', `/v1/contacts/${ada.id}/activity?limit=2`)).body.data;
    expect(activity.map((one: { type: string; audienceId: string }) => [one.type, one.audienceId])).toEqual([
      ['left', id],
      ['joined', id],
    ]);
    for (const body of [
      {},
      { emails: [] },
      { emails: Array.from({ length: 1_001 }, (__, n) => `${n}@x.example`) },
    ])
      expect((await send('POST', path, body)).status).toBe(422);
    expect((await send('POST', path, { emails: ['ada@example.com'] }, inTest)).status).toBe(404);
    await send('DELETE', `/v1/audiences/${id}`);
    await eventually('its members to go', async () => {
      const rows = await service.service.database.query(
        'select 1 from audience_members where audience_id = $1',
        [id],
      );
      return rows.length === 0 ? true : undefined;
    });
  });

  test('a thousand contacts are named together, by ids and addresses of this environment', async () => {
    const { id } = await made({ name: 'Many' });
    const path = `/v1/audiences/${id}/contacts`;
    const ada = (await send('GET', '/v1/contacts/ada@example.com')).body.data.id;
    const other = (await send('POST', '/v1/contacts', { email: 'tested@example.com' }, inTest)).body.data.id;
    const emails = Array.from({ length: 998 }, (__, n) => `${n}@nowhere.example`);
    const told = await send('POST', path, { contactIds: [ada, other], emails });
    expect(told.body.data).toMatchObject({ added: 1, alreadyIn: 0, notFound: [other, ...emails] });
    const more = await send('POST', path, { contactIds: [ada, other, 'x'], emails });
    expect([more.status, pathsOf(more)]).toEqual([422, ['/body']]);
    expect((await send('DELETE', `${path}/${other}`)).status).toBe(404);
    expect((await send('DELETE', `${path}/${ada}`)).status).toBe(204);
    expect(pathsOf(await send('PATCH', `/v1/audiences/${id}`, { type: 'dynamic' }))).toEqual(['/body/type']);
  });

  test('a dynamic audience holds whom its filter matches, at every moment', async () => {
    const { id, filter } = await made({ name: 'Pro', type: 'dynamic', filter: plan('pro') });
    expect(filter).toEqual(plan('pro'));
    expect(await emailsOf(`/v1/audiences/${id}/contacts`)).toEqual(['ada@example.com', 'cy@example.com']);
    expect((await send('GET', `/v1/audiences/${id}`)).body.data.contactCount).toBe(2);
    expect((await send('GET', '/v1/audiences')).body.data[0].contactCount).toBeNull();
    await send('PATCH', '/v1/contacts/bob@example.com', { properties: { plan: 'pro' } });
    expect(await emailsOf(`/v1/contacts?audienceId=${id}`)).toContain('bob@example.com');
    await send('PATCH', '/v1/contacts/bob@example.com', { properties: { plan: 'free' } });
    const added = await send('POST', `/v1/audiences/${id}/contacts`, { emails: ['bob@example.com'] });
    expect([added.status, added.body.error.code]).toEqual([409, 'CONFLICT']);
    const removed = await send('DELETE', `/v1/audiences/${id}/contacts/ada@example.com`);
    expect(removed.status).toBe(409);
  });

  test('a preview counts and shows; its filter is held to its rules', async () => {
    const preview = (filter: unknown, key = live) => send('POST', '/v1/audiences/preview', { filter }, key);
    const many = { field: 'properties.seats', operator: 'gt', value: 2 };
    const told = await preview({
      and: [plan('pro'), many, { not: { field: 'email', operator: 'eq', value: 'CY@example.com' } }],
    });
    expect(told.body.data).toMatchObject({ count: 1, isExact: true, sample: [{ email: 'ada@example.com' }] });
    expect((await preview(plan('pro'), inTest)).body.data).toEqual({ count: 0, isExact: true, sample: [] });
    // Whatever is no GET takes the permission to write.
    const [reader, writer] = [
      await service.keyWith('live', ['contacts:read']),
      await service.keyWith('live', ['contacts:write']),
    ];
    expect((await preview(plan('pro'), reader)).status).toBe(403);
    expect((await preview(plan('pro'), writer)).status).toBe(200);
    expect((await preview({ field: 'properties.plan', operator: 'neq', value: 'pro' })).body.data.count).toBe(
      1,
    );
    expect(pathsOf(await preview({ field: 'nothing', operator: 'eq', value: 1 }))).toEqual([
      '/body/filter/field',
    ]);
    expect(pathsOf(await preview({ and: [] }))).toEqual(['/body/filter/and']);
    let deep: unknown = plan('pro');
    for (let level = 2; level <= 8; level++) deep = { not: deep };
    expect((await preview(deep)).status).toBe(200);
    expect((await preview({ not: deep })).status).toBe(422);
    const fifty = Array.from({ length: 50 }, () => plan('pro'));
    expect((await preview({ or: fifty })).status).toBe(200);
    expect((await preview({ or: [...fifty, plan('pro')] })).status).toBe(422);
  });

  test('a filter asks of audiences, of what was done last, and of custom events', async () => {
    const preview = async (filter: unknown) => {
      const told = await send('POST', '/v1/audiences/preview', { filter });
      if (told.status !== 200) throw new Error(told.text);
      return told.body.data.sample.map(({ email }: { email: string }) => email).toSorted();
    };
    const { id: fixed } = await made({ name: 'Static' });
    await send('POST', `/v1/audiences/${fixed}/contacts`, { emails: ['bob@example.com'] });
    const { id: dynamic } = await made({ name: 'Dynamic', type: 'dynamic', filter: plan('pro') });
    const inAudience = (value: unknown, operator = 'eq') => ({ field: 'audiences', operator, value });
    expect(await preview(inAudience(fixed))).toEqual(['bob@example.com']);
    expect(await preview(inAudience(dynamic))).toEqual(['ada@example.com', 'cy@example.com']);
    expect(await preview(inAudience([fixed, dynamic], 'in'))).toHaveLength(3);
    expect(await preview(inAudience(dynamic, 'neq'))).toEqual(['bob@example.com']);
    await send('POST', '/v1/contacts/cy@example.com/events', { name: 'bought' });
    const bought = {
      field: 'activity.event:bought',
      operator: 'withinLast',
      value: { amount: 1, unit: 'days' },
    };
    expect(await preview(bought)).toEqual(['cy@example.com']);
    expect(await preview({ field: 'activity.opened', operator: 'exists', value: false })).toHaveLength(3);
  });

  test('audiences do not go round in a circle, nor name what is not there', async () => {
    const dynamic = (name: string, filter: unknown) => made({ name, type: 'dynamic', filter });
    const inAudience = (value: string) => ({ field: 'audiences', operator: 'eq', value });
    const { id: a } = await dynamic('A', plan('pro'));
    const { id: b } = await dynamic('B', inAudience(a));
    for (const filter of [inAudience(b), inAudience(a), inAudience('aud_00000000000000000000000x')])
      expect(pathsOf(await send('PATCH', `/v1/audiences/${a}`, { filter }))).toEqual(['/body/filter']);
    const other = await made({ name: 'Tested' }, inTest);
    expect((await send('POST', '/v1/audiences/preview', { filter: inAudience(other.id) })).status).toBe(422);
  });

  test('an audience that the filter of another one names is kept, and the refusal names the other', async () => {
    const { id: named } = await made({ name: 'Named' });
    const filter = { or: [{ not: { field: 'audiences', operator: 'in', value: [named] } }, plan('pro')] };
    const { id: other } = await made({ name: 'Made of it', type: 'dynamic', filter });
    const remove = () => send('DELETE', `/v1/audiences/${named}`);
    const refused = await remove();
    expect([refused.status, refused.body?.error.code, refused.body?.error.message]).toEqual([
      409,
      'CONFLICT',
      `The audience is used by the filter of the audience ${other}.`,
    ]);
    expect((await send('GET', `/v1/audiences/${named}`)).status).toBe(200);
    // One whose filter names it no more keeps it no longer, nor does one that is gone.
    expect((await send('PATCH', `/v1/audiences/${other}`, { filter: plan('pro') })).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect((await send('DELETE', `/v1/audiences/${other}`)).status).toBe(204);
  });

  test('audiences within one another come to a hundred conditions at most, however they came to be', async () => {
    const one = plan('pro');
    const any = (conditions: object[]) => ({ or: conditions });
    const times = (count: number, filter: object) => any(Array<object>(count).fill(filter));
    const dynamic = (filter: object) => ({ name: 'Made of others', type: 'dynamic', filter });
    const inAudience = (value: string) => ({ field: 'audiences', operator: 'eq', value });
    const { id: few } = await made(dynamic(times(24, one)));
    const four = times(4, inAudience(few));
    const refused = await send('POST', '/v1/audiences', dynamic(any([...four.or, one])));
    expect([refused.status, pathsOf(refused)]).toEqual([422, ['/body/filter']]);
    expect(refused.text).toContain('at most 100 conditions');
    const { id: most, contactCount } = await made(dynamic(four));
    expect(contactCount).toBe(2);
    // One condition more below would be four more above, where no contact would match any more.
    const path = `/v1/audiences/${few}`;
    const more = await send('PATCH', path, { filter: times(25, one) });
    expect([more.status, pathsOf(more)]).toEqual([422, ['/body/filter']]);
    expect(more.text).toContain(most);
    expect((await send('PATCH', path, { filter: times(23, one) })).status).toBe(200);
    expect((await send('GET', `/v1/audiences/${most}`)).body.data.contactCount).toBe(2);
    for (const id of [most, few]) await send('DELETE', `/v1/audiences/${id}`);
  });

  test.each([
    [{ name: 'x', filter: plan('pro') }, ['/body/filter']],
    [{ name: 'x', type: 'dynamic', filter: { field: 'x' } }, 'some'],
    [{ name: 'x', type: 'dynamic' }, ['/body/filter']],
    [{ name: '' }, ['/body/name']],
    [{ name: 'x', confirm: true }, ['/body/confirm']],
    [{ name: 'x', type: 'dynamic', filter: plan('pro'), confirm: true }, ['/body/confirm']],
  ] as [object, string[] | 'some'][])('%j: 422', async (body, wrong) => {
    const told = await send('POST', '/v1/audiences', body);
    expect(told.status).toBe(422);
    if (wrong !== 'some') expect(pathsOf(told)).toEqual(wrong);
  });
});
