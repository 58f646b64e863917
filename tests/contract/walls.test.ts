import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import type { ParamSpec, Route } from '../../src/http/request/route.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { eventually } from '../support/eventually.ts';
import { gifOf } from '../support/pictures.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

// Every route that names something is asked for what belongs to another workspace, and to the other
// environment: 404 for all.

let service: RealService;
/** A key of the first workspace's live environment, which asks. */
let asking: string;
/** The resources of the others, by the name in a path. */
const owned = { workspace: new Map<string, string>(), environment: new Map<string, string>() };

/** The resources of both environments of a workspace. */
const SHARED = new Set(['dom', 'key', 'mem', 'inv', 'ast']);

/** The resources of test keys alone, which a live key is refused whatever it names. */
const OF_TEST_KEYS = new Set(['clk']);
/** A key of the first workspace's test environment, which asks for those. */
let askingInTest: string;

/** The values of a name in a path: an id by its prefix, a contact by either, a suppression by its address. */
const nameOf = (param: string, spec: ParamSpec): string => ('prefix' in spec ? spec.prefix : param);

const NAMED = ROUTES.filter(
  ({ path, permission, params = {} }) =>
    path.startsWith('/v1/') && permission !== 'public' && Object.keys(params).length > 0,
);

/**
 * The resource that the documented example of a POST makes, by the prefix under which it is read then: only
 * the rest needs words in `fill`.
 */
const MADE_BY_EXAMPLE = ROUTES.flatMap(({ method, path, example }) => {
  const id = NAMED.find((route) => route.method === 'GET' && route.path === `${path}/:id`)?.params?.id;
  const isMade = id && 'prefix' in id && !SHARED.has(id.prefix) && !OF_TEST_KEYS.has(id.prefix);
  return method === 'POST' && example?.body && isMade
    ? [{ prefix: id.prefix, path, body: example.body }]
    : [];
});

beforeAll(async () => {
  service = await startRealService({ HOST: '127.0.0.1' });
  asking = await service.keyWith('live', ['*']);
  askingInTest = await service.keyWith('test', ['*']);
  const { database, engine } = service.service;
  await database.query(
    `insert into workspaces (id, name, plan, created_at) values ('ws_0000000000000000000other', 'Other', 'growth', now())`,
  );
  const foreign = { workspaceId: 'ws_0000000000000000000other', livemode: true, name: 'Other' };
  const key = await issueKey(engine, { ...foreign, permissions: ['*'] }, Date.now());
  await fill(owned.workspace, key, true);
  const inTest = await issueKey(engine, { ...foreign, livemode: false, permissions: ['*'] }, Date.now());
  const asked = { method: 'POST', path: '/v1/test-clocks', key: inTest, body: { name: 'Other' } };
  owned.workspace.set('clk', (await service.ask(asked)).body.data.id);
  await fill(owned.environment, await service.keyWith('test', ['*']), false);
});
afterAll(() => service[Symbol.asyncDispose]());

/** Makes one of everything with a key. */
async function fill(names: Map<string, string>, key: string, livemode: boolean): Promise<void> {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const told = await service.ask({ method: 'POST', path, key, body, headers });
    if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
    return told.body.data;
  };
  const first = async (path: string) =>
    eventually(path, async () => (await service.ask({ path, key })).body.data[0] ?? undefined);
  if (livemode) names.set('dom', (await post('/v1/domains', { name: 'other.example' })).id);
  const domainId = names.get('dom') ?? (await service.ask({ path: '/v1/domains', key })).body.data[0]?.id;
  const ofTest = domainId ?? (await post('/v1/domains', { name: 'own.example' })).id;
  const route = { domainId: ofTest, match: { type: 'catchAll' }, action: { type: 'keep' } };
  names.set('inr', (await post('/v1/inbound-routes', route)).id);
  const account = { host: 'imap.example.com', username: 'a@other.example', password: 'secret', paused: true };
  names.set('mbx', (await post('/v1/mailboxes', account)).id);
  names.set('rcv', await aReceived(names.get('inr') ?? ''));
  names.set('index', '0');
  const email = { from: 'shop@other.example', to: 'ada@other.example', subject: 'Hello', text: 'Hi' };
  const attachments = [{ filename: 'a.txt', content: 'aGk=' }];
  names.set('em', (await post('/v1/emails', { ...email, attachments })).id);
  names.set('number', '0');
  if (livemode) names.set('cap', (await first('/v1/captured')).id);
  const webhook = await post('/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['sent'] });
  names.set('wh', webhook.id);
  await post(`/v1/webhooks/${webhook.id}/test`, {});
  names.set('dlv', (await first(`/v1/webhooks/${webhook.id}/deliveries`)).id);
  names.set('key', (await first('/v1/api-keys')).id);
  names.set('req', (await first('/v1/requests')).id);
  names.set('contact', (await post('/v1/contacts', { email: 'ada@other.example' })).id);
  names.set('aud', (await post('/v1/audiences', { name: 'Other', public: true })).id);
  const template = { name: 'Other', subject: 's', html: 'x', from: 'shop@other.example' };
  names.set('tpl', (await post('/v1/templates', template)).id);
  const picture = gifOf({ width: 1, height: 1 });
  names.set('ast', (await post('/v1/assets', picture, { 'content-type': 'image/gif' })).id);
  names.set('version', '1');
  const campaign = { name: 'Other', audienceId: names.get('aud') };
  names.set('cmp', (await post('/v1/campaigns', campaign)).id);
  for (const { prefix, path, body } of MADE_BY_EXAMPLE)
    if (!names.has(prefix)) names.set(prefix, (await post(path, body)).id);
  names.set('run', await aRun(names.get('flw') ?? '', names.get('contact') ?? ''));
  const csv = { 'content-type': 'text/csv' };
  names.set('imp', (await post('/v1/contacts/import', 'email\nbo@other.example\n', csv)).id);
  if (livemode) {
    const invitation = { email: 'eve@other.example', role: 'viewer' };
    names.set('inv', (await post('/v1/members/invitations', invitation)).id);
    names.set('mem', await aMember());
    await post('/v1/suppressions', { address: 'gone@other.example' });
    names.set('address', 'gone@other.example');
  }
}

/** Makes a message that a route has taken, and returns the id: a live one comes by SMTP. */
async function aReceived(routeId: string): Promise<string> {
  const { database, engine } = service.service;
  const [route] = await database.query<{ workspace_id: string; livemode: boolean }>(
    'select workspace_id, livemode from inbound_routes where id = $1',
    [routeId],
  );
  const id = mintId('rcv', Date.now());
  await engine.spawn('received', {
    id,
    workspaceId: route?.workspace_id ?? '',
    livemode: route?.livemode ?? false,
    input: { at: Date.now(), leaseMs: 30_000, isKept: true },
    columns: {
      route_id: routeId,
      content_id: 'rcc_none',
      envelope_from: '',
      recipient: 'a@other.example',
      thread_id: 'thr_1',
      is_automatic: false,
      address_keys: [],
      summary: {},
      size: 0,
    },
  });
  return id;
}

/** Makes a run that has ended and returns the id: a test key cannot begin one. */
async function aRun(flowId: string, contactId: string): Promise<string> {
  const id = mintId('run', Date.now());
  await service.service.database.query(
    `insert into flow_runs (id, workspace_id, livemode, state, context, revision, machine_version, status, ended_at, started_at,
      flow_id, flow_version, contact_id, occurrence_key, is_watched)
    select $1, workspace_id, livemode, 'completed', '{}', 1, 1, 'completed', now(), now(), id, 1, $3, 'made', false
    from flows where id = $2`,
    [id, flowId, contactId],
  );
  return id;
}

/** Makes a member of the other workspace and returns the id. */
async function aMember(): Promise<string> {
  const { database } = service.service;
  const id = mintId('mem', Date.now());
  await database.query(
    `insert into accounts (id, email, email_key, name, created_at)
     values ('acc_other', 'owner@other.example', 'owner@other.example', 'Other', now())`,
  );
  await database.query(
    `insert into members (id, workspace_id, account_id, role, joined_at)
     values ($1, 'ws_0000000000000000000other', 'acc_other', 'owner', now())`,
    [id],
  );
  return id;
}

/** The path with what the others own; null where they have no such thing. */
function pathOf({ path, params = {} }: Route, names: ReadonlyMap<string, string>): string | null {
  const missing = Object.entries(params).some(([param, spec]) => !names.has(nameOf(param, spec)));
  return missing
    ? null
    : path.replace(
        /:(\w+)/g,
        (_, param: string) => names.get(nameOf(param, params[param] as ParamSpec)) ?? '',
      );
}

/** A body that the route takes. */
const bodyOf = ({ method, example }: Route): unknown => {
  const body = example?.body;
  if (method === 'GET' || body === undefined) return undefined;
  return typeof body === 'object' && body !== null && 'scheduledAt' in body
    ? { ...body, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }
    : body;
};

const ask = (route: Route, path: string) => {
  const body = bodyOf(route);
  const isOfTestKeys = Object.entries(route.params ?? {}).some(([param, spec]) =>
    OF_TEST_KEYS.has(nameOf(param, spec)),
  );
  const key = isOfTestKeys ? askingInTest : asking;
  return service.ask({ method: route.method, path, key, ...(body !== undefined && { body }) });
};

describe.each(NAMED.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const names = Object.entries(route.params ?? {}).map(([param, spec]) => nameOf(param, spec));

  test('answers 404 for what another workspace owns', async () => {
    const path = pathOf(route, owned.workspace);
    expect(path, `make one of ${names} in fill(), so that its wall is tried`).not.toBeNull();
    const told = await ask(route, path ?? '');
    expect([told.status, told.body.error.code]).toEqual([404, 'NOT_FOUND']);
  });

  const isOfBoth = (name: string) => SHARED.has(name) || name === 'cap' || name === 'address';
  if (!names.some((name) => isOfBoth(name) || OF_TEST_KEYS.has(name))) {
    test('answers 404 for what the other environment owns', async () => {
      const path = pathOf(route, owned.environment);
      expect(path, `make one of ${names} in fill(), so that its wall is tried`).not.toBeNull();
      const told = await ask(route, path ?? '');
      expect([told.status, told.body.error.code]).toEqual([404, 'NOT_FOUND']);
    });
  }
});

test('after all of that the others still have everything', async () => {
  const { database } = service.service;
  const [left] = await database.query<{ contacts: number; audiences: number; suppressions: number }>(`select
    (select count(*) from contacts where email = 'ada@other.example')::integer as contacts,
    (select count(*) from audiences)::integer as audiences,
    (select count(*) from suppressions where address = 'gone@other.example')::integer as suppressions`);
  expect(left).toEqual({ contacts: 2, audiences: 2, suppressions: 1 });
});
