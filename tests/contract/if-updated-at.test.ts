import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { setPlan } from '../../src/accounts/workspace/commands.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

// Several members edit one thing. A change that names the `updatedAt` that it was decided on is made only as
// long as that is the present one, for every resource alike.

let service: RealService;
let key: string;
const receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') });

beforeAll(async () => {
  // On loopback alone, webhooks may lead to it.
  service = await startRealService({ HOST: '127.0.0.1' });
  // Each test of domains adds one.
  await setPlan(service.service.database, service.workspaceId, 'growth');
  key = await service.keyWith('live', ['*']);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await receiver.stop(true);
});

const ask = (method: string, path: string, body?: unknown) =>
  service.ask({ method, path, key, ...(body !== undefined && { body }) });
const make = async (path: string, body: object): Promise<string> => {
  const told = await ask('POST', path, body);
  if (told.status !== 201) throw new Error(`${path}: ${told.text}`);
  return told.body.data.id as string;
};
let made = 0;
const fresh = () => `n${++made}`;
const anAudience = () => make('/v1/audiences', { name: fresh() });
const STEP = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } };

/**
 * One resource: the path of a new one, two changes of different members, and the value of each in the answer.
 */
interface Resource {
  readonly make: () => Promise<string>;
  readonly changes: readonly [object, object];
}

/** By the path of the route. */
const RESOURCES: Readonly<Record<string, Resource>> = {
  '/v1/templates/:id': {
    make: async () =>
      `/v1/templates/${await make('/v1/templates', { name: fresh(), subject: 's', html: 'x' })}`,
    changes: [{ subject: 'Mine' }, { name: 'Theirs' }],
  },
  '/v1/campaigns/:id': {
    make: async () =>
      `/v1/campaigns/${await make('/v1/campaigns', { name: fresh(), audienceId: await anAudience() })}`,
    changes: [{ subject: 'Mine' }, { name: 'Theirs' }],
  },
  '/v1/flows/:id': {
    make: async () => `/v1/flows/${await make('/v1/flows', { name: fresh(), entry: 'wait', steps: [STEP] })}`,
    changes: [{ reentry: 'afterExit' }, { name: 'Theirs' }],
  },
  '/v1/audiences/:id': {
    make: async () => `/v1/audiences/${await anAudience()}`,
    changes: [{ description: 'Mine' }, { name: 'Theirs' }],
  },
  '/v1/contacts/:contact': {
    make: async () => `/v1/contacts/${await make('/v1/contacts', { email: `${fresh()}@example.com` })}`,
    changes: [{ firstName: 'Mine' }, { lastName: 'Theirs' }],
  },
  '/v1/webhooks/:id': {
    make: async () =>
      `/v1/webhooks/${await make('/v1/webhooks', { url: receiver.url.href, events: ['sent', 'bounced'] })}`,
    changes: [{ events: ['opened'] }, { status: 'disabled' }],
  },
  '/v1/domains/:id': {
    make: async () => `/v1/domains/${await make('/v1/domains', { name: `${fresh()}.example` })}`,
    changes: [{ openTracking: true }, { clickTracking: true }],
  },
  '/v1/inbound-routes/:id': {
    make: async () =>
      `/v1/inbound-routes/${await make('/v1/inbound-routes', {
        domainId: await make('/v1/domains', { name: `${fresh()}.example` }),
        match: { type: 'catchAll' },
        action: { type: 'keep' },
      })}`,
    changes: [{ match: { type: 'exact', localPart: 'mine' } }, { priority: 7 }],
  },
  '/v1/mailboxes/:id': {
    make: async () =>
      `/v1/mailboxes/${await make('/v1/mailboxes', {
        host: 'imap.example.com',
        username: 'a@example.com',
        password: 'secret',
        paused: true,
      })}`,
    changes: [{ folder: 'Mine' }, { port: 1_993 }],
  },
  '/v1/workspace': {
    make: async () => '/v1/workspace',
    changes: [{ timeZone: 'Europe/Vienna' }, { name: 'Theirs' }],
  },
};

/** Changes that need no such condition. */
const WITHOUT: Readonly<Record<string, string>> = {
  '/v1/emails/:id': 'a scheduled email has one member to change, its time',
  '/v1/api-keys/:id': 'the body is the whole set of permissions, and is never merged',
  '/v1/members/:id': 'a member has one member to change, the role',
};

test('every resource that is changed takes the condition, or says why it needs none', () => {
  const changed = ROUTES.filter(({ method, path }) => method === 'PATCH' && path.startsWith('/v1/'));
  const takes = ({ body }: (typeof changed)[number]) => 'ifUpdatedAt' in (body?.properties ?? {});
  expect(
    changed
      .filter(takes)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(Object.keys(RESOURCES).toSorted());
  expect(
    changed
      .filter((each) => !takes(each))
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(Object.keys(WITHOUT).toSorted());
});

describe.each(Object.entries(RESOURCES))('%s', (_, { make: create, changes: [mine, theirs] }) => {
  const read = async (path: string) => (await ask('GET', path)).body.data;
  const without = ({ updatedAt: _, ...rest }: { readonly updatedAt: string }) => rest;

  test('is changed by who has seen it as it is, and not by who has seen it before', async () => {
    const path = await create();
    const seen = (await read(path)).updatedAt as string;
    const first = await ask('PATCH', path, { ...theirs, ifUpdatedAt: seen });
    expect(first.status).toBe(200);
    expect(first.body.data.updatedAt > seen).toBe(true);
    expect(first.body.data).toMatchObject(theirs);
    const before = await read(path);
    expect(before).toMatchObject({ ...theirs, updatedAt: first.body.data.updatedAt });
    const late = await ask('PATCH', path, { ...mine, ifUpdatedAt: seen });
    expect([late.status, late.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(late.body.error.suggestion).toContain('Read it again');
    expect(without(await read(path))).toEqual(without(before));
    // The moment is one however it is written.
    const offset = `${new Date(Date.parse(before.updatedAt) + 3_600_000).toISOString().slice(0, -1)}+01:00`;
    const told = await ask('PATCH', path, { ...mine, ifUpdatedAt: offset });
    expect([told.status, told.text]).toEqual([200, expect.anything()]);
    // Nothing of the first change was taken back.
    expect(await read(path)).toMatchObject({ ...theirs, ...mine });
  });

  test('of changes at the same moment that have seen the same one is made', async () => {
    const path = await create();
    const { updatedAt: ifUpdatedAt } = await read(path);
    const told = await Promise.all(
      [mine, theirs, mine, theirs].map((each) => ask('PATCH', path, { ...each, ifUpdatedAt })),
    );
    expect(told.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test('each change has a later moment than the one before', async () => {
    const path = await create();
    const moments: string[] = [(await read(path)).updatedAt];
    for (const each of [mine, theirs, mine, theirs])
      moments.push((await ask('PATCH', path, each)).body.data.updatedAt);
    expect(moments).toEqual([...new Set(moments)].toSorted());
  });

  test('a moment that is none is refused at its place', async () => {
    const path = await create();
    const told = await ask('PATCH', path, { ...mine, ifUpdatedAt: 'yesterday' });
    expect([told.status, told.body.error.details[0].path]).toEqual([422, '/body/ifUpdatedAt']);
  });
});

describe('what is started is what was seen', () => {
  test('a campaign that was changed since is not sent, and stays a draft', async () => {
    const path = await (RESOURCES['/v1/campaigns/:id'] as Resource).make();
    const { updatedAt: ifUpdatedAt } = (await ask('GET', path)).body.data;
    await ask('PATCH', path, { subject: 'Changed' });
    for (const [way, body] of [
      ['send', {}],
      ['test-send', { to: ['ada@example.com'] }],
    ] as const) {
      const told = await ask('POST', `${path}/${way}`, { ...body, ifUpdatedAt });
      expect([way, told.status, told.body.error.message]).toEqual([
        way,
        409,
        'The campaign has changed since you read it.',
      ]);
    }
    expect((await ask('GET', path)).body.data.status).toBe('draft');
  });

  test('a flow that was changed since is not activated', async () => {
    const path = await (RESOURCES['/v1/flows/:id'] as Resource).make();
    const { updatedAt: ifUpdatedAt } = (await ask('GET', path)).body.data;
    const { updatedAt: now } = (await ask('PATCH', path, { reentry: 'afterExit' })).body.data;
    expect((await ask('POST', `${path}/activate`, { ifUpdatedAt })).status).toBe(409);
    expect((await ask('GET', path)).body.data.status).toBe('draft');
    expect((await ask('POST', `${path}/activate`, { ifUpdatedAt: now })).body.data.status).toBe('active');
  });
});

test('of two who switch different emails of the service off at the same moment, both are followed', async () => {
  const switched = { invitation: false, domainLost: false, webhookDisabled: false, campaignPaused: false };
  await Promise.all(
    Object.keys(switched).map((kind) => ask('PATCH', '/v1/workspace', { serviceEmails: { [kind]: false } })),
  );
  expect((await ask('GET', '/v1/workspace')).body.data.serviceEmails).toEqual(switched);
});
