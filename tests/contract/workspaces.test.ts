import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { eraseWorkspace, journalsOf } from '../../src/accounts/workspace/erase.ts';
import { exportWorkspace } from '../../src/accounts/workspace/export.ts';
import { surveyTables } from '../../src/accounts/workspace/owned-tables.ts';
import { MODULE_KINDS } from '../../src/modules.ts';
import { suppress } from '../../src/sending/suppressions/commands.ts';
import { eventually } from '../support/eventually.ts';
import { type Browser, inviteMember, ORIGIN, setUpOwner } from './a-browser.ts';
import { type RealService, ROUTES, startRealService } from './real-service.ts';

// Two workspaces of one installation: what the one has, the other neither sees nor changes, and it goes
// without a trace.

let service: RealService;
let owner: Browser;
/** The workspace that has everything, and a key of it. */
let theirs: string;
let theirKey: string;
/** Keys of the other one. */
let ownKeys: readonly string[];
const receiver = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') });
const journals = journalsOf(MODULE_KINDS);

/** Something of each kind in the full workspace. */
const existing: Record<string, string> = {};

const ids = () => Object.values(existing);

const keyIn = (workspaceId: string, livemode: boolean) =>
  issueKey(service.service.engine, { workspaceId, livemode, name: 'Walls', permissions: ['*'] }, Date.now());

async function make(path: string, body: unknown = {}): Promise<Record<string, string>> {
  const told = await service.ask({ method: 'POST', path, key: theirKey, body });
  if (told.status >= 300) throw new Error(`${path}: ${told.text}`);
  return told.body.data;
}
const read = async (path: string) => (await service.ask({ path, key: theirKey })).body.data;

beforeAll(async () => {
  service = await startRealService({ HOST: '127.0.0.1' });
  owner = await setUpOwner(service);
  theirs = (await owner.ask('/workspaces', { name: 'Full' })).body.data.id;
  ownKeys = [await keyIn(service.workspaceId, true), await keyIn(service.workspaceId, false)];
  theirKey = await keyIn(theirs, true);
  await owner.ask(`/workspaces/${theirs}/switch`, {});
  existing.ws = theirs;
  existing.dom = (await make('/v1/domains', { name: 'full.test' })).id ?? '';
  existing.wh =
    (await make('/v1/webhooks', { url: receiver.url.href, events: ['sent', 'delivered'] })).id ?? '';
  await make(`/v1/webhooks/${existing.wh}/test`);
  const email = { from: 'a@full.test', to: 'b@secret.example', subject: 'Secret', text: 'Secret' };
  existing.em = (await make('/v1/emails', email)).id ?? '';
  existing.key = (await make('/v1/api-keys', { name: 'Secret', env: 'live', permissions: ['*'] })).id ?? '';
  existing.inv =
    (await make('/v1/members/invitations', { email: 'c@secret.example', role: 'viewer' })).id ?? '';
  existing.mem = (await inviteMember(service, owner, 'viewer', 'd@secret.example')).id;
  existing.contact = (await make('/v1/contacts', { email: 'e@secret.example' })).id ?? '';
  const imported = await service.ask({
    method: 'POST',
    path: '/v1/contacts/import',
    key: theirKey,
    headers: { 'content-type': 'text/csv' },
    body: 'email\ng@secret.example\nnobody\n',
  });
  existing.imp = imported.body.data.id;
  await eventually('the import', async () => {
    const { status } = await read(`/v1/contacts/imports/${existing.imp}`);
    return ['completed', 'failed'].includes(status) ? status : undefined;
  });
  const letter = { name: 'Secret', format: 'html', subject: 'Hi', html: '<p>secret.example</p>' };
  existing.tpl = (await make('/v1/templates', letter)).id ?? '';
  await make('/v1/suppressions', { address: 'f@secret.example' });
  existing.address = encodeURIComponent('f@secret.example');
  existing.cap = await eventually('the captured email', async () => (await read('/v1/captured'))[0]?.id);
  existing.dlv = await eventually('the deliveries', async () => {
    const all: { id: string; status: string }[] = await read(`/v1/webhooks/${existing.wh}/deliveries`);
    return all.length >= 3 && all.every(({ status }) => status === 'success') ? all[0]?.id : undefined;
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await receiver.stop(true);
});

describe('a key of another workspace', () => {
  test('finds nothing of it in any list', async () => {
    const lists = ROUTES.filter(
      ({ method, path, permission }) => method === 'GET' && !path.includes(':') && permission !== 'public',
    );
    expect(lists.length).toBeGreaterThan(10);
    for (const { path } of lists)
      for (const key of ownKeys) {
        const { text } = await service.ask({ path, key });
        const seen = [...ids(), 'secret.example', 'full.test'].filter((each) => text.includes(each));
        expect([path, seen]).toEqual([path, []]);
      }
  });
});

describe('the end of a workspace', () => {
  test('every table of the database is known to belong to workspaces, or to none', async () => {
    const { owned, unplaced } = await surveyTables(service.service.database, journals);
    expect(unplaced).toEqual([]);
    expect(owned.map(({ table }) => table)).toEqual(
      expect.arrayContaining(['emails', 'email_turns', 'audit_log']),
    );
  });

  test('the export has every row of this workspace and of no other, without secrets', async () => {
    const lines: string[] = [];
    for await (const line of exportWorkspace(service.service.database, journals, theirs)) lines.push(line);
    const text = lines.join('');
    for (const [name, id] of Object.entries(existing))
      if (name !== 'inv') expect([name, text.includes(decodeURIComponent(id))]).toEqual([name, true]);
    expect(text).not.toContain(service.workspaceId);
    expect(text).not.toMatch(/"hash"|argon2id|BEGIN PRIVATE|"sealed"/);
    const tables = new Set(lines.map((line) => JSON.parse(line).table));
    expect([...tables]).toEqual(expect.arrayContaining(['workspaces', 'emails', 'email_turns', 'members']));
  });

  test('an archived one answers its keys no more, and its members only to reading', async () => {
    expect((await owner.ask(`/workspaces/${theirs}`, {}, 'DELETE')).status).toBe(409);
    const archived = await owner.ask(`/workspaces/${theirs}`, { archived: true, name: 'Old' }, 'PATCH');
    expect(archived.body.data).toMatchObject({ id: theirs, name: 'Old', archived: true, role: 'owner' });
    expect((await service.ask({ path: '/v1/workspace', key: theirKey })).status).toBe(401);
    expect((await owner.ask('/live/emails')).status).toBe(200);
    const refused = await owner.ask('/live/workspace', { name: 'New' }, 'PATCH');
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      'This workspace is archived, so the permission workspace:write is not available.',
    ]);
    await owner.ask(`/workspaces/${theirs}`, { archived: false }, 'PATCH');
    expect((await service.ask({ path: '/v1/workspace', key: theirKey })).status).toBe(200);
    await owner.ask(`/workspaces/${theirs}`, { archived: true }, 'PATCH');
  });

  test('a deleted one leaves nothing behind, in any table', async () => {
    const { database } = service.service;
    const first = await owner.ask(`/workspaces/${service.workspaceId}`, { archived: true }, 'PATCH');
    expect(first.status).toBe(200);
    expect((await owner.ask(`/workspaces/${service.workspaceId}`, {}, 'DELETE')).status).toBe(409);
    await owner.ask(`/workspaces/${service.workspaceId}`, { archived: false }, 'PATCH');
    expect((await owner.ask(`/workspaces/${theirs}`, {}, 'DELETE')).status).toBe(204);
    expect((await owner.ask('/session')).status).toBe(401);
    await eraseWorkspace(database, journals, theirs);
    // A link in an email outlives them: who follows it is not written down again.
    const gone = { workspaceId: theirs, address: 'd@secret.example', emailId: null, at: Date.now() } as const;
    await suppress(database, { ...gone, reason: 'unsubscribed' });

    const tables = await database.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = current_schema() and c.relkind = 'r'`,
    );
    expect(tables.length).toBeGreaterThan(25);
    const traces = [...ids(), 'secret.example', 'full.test'].map((each) => `%${each}%`);
    for (const { name } of tables) {
      const rows = await database.query(
        `select t::text as row from ${name} t where t::text like any($1::text[])`,
        [traces],
      );
      expect([name, rows]).toEqual([name, []]);
    }
    // The owner belongs to the first one still; the person who belonged to this one alone is forgotten.
    expect((await owner.signIn('ada@acme.example')).status).toBe(200);
    expect((await owner.ask('/workspaces')).body.data).toHaveLength(1);
    expect((await owner.signIn('d@secret.example')).status).toBe(401);
  });

  test('the log of a workspace has its own name alone, wherever its owner was signed in', async () => {
    await owner.signIn('ada@acme.example');
    const { id } = (await owner.ask('/workspaces', { name: 'Project Hush' })).body.data;
    await owner.ask(`/workspaces/${id}`, { name: 'Project Whisper' }, 'PATCH');
    expect((await owner.ask('/live/audit-log?limit=100')).text).not.toMatch(/Hush|Whisper/);
    await owner.ask(`/workspaces/${id}/switch`, {});
    const { data } = (await owner.ask('/live/audit-log?limit=100')).body;
    expect(data).toContainEqual(
      expect.objectContaining({ action: 'workspace.changed', details: { name: 'Project Whisper' } }),
    );
    await owner.ask(`/workspaces/${service.workspaceId}/switch`, {});
  });

  test('is switched to by a POST without a body, as every POST without fields is answered', async () => {
    await owner.signIn('ada@acme.example');
    const { id } = (await owner.ask('/workspaces', { name: 'Empty Body' })).body.data;
    const post = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${service.url}/app/api${path}`, {
        method: 'POST',
        headers: { cookie: owner.cookie, origin: ORIGIN, ...headers },
      });
    for (const headers of [{}, { 'content-type': 'application/json' }] as Record<string, string>[]) {
      // A switch replaces the session.
      await owner.signIn('ada@acme.example');
      const reply = await post(`/workspaces/${id}/switch`, headers);
      expect([reply.status, await reply.json()]).toEqual([200, { data: { workspaceId: id } }]);
    }
    await owner.signIn('ada@acme.example');
    expect((await post('/account/totp')).status).not.toBe(415);
    // A form of another site always has a type, and a script there an origin.
    for (const headers of [
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'text/plain' },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[])
      expect([403, 415]).toContain((await post(`/workspaces/${id}/switch`, headers)).status);
    await owner.signIn('ada@acme.example');
    await owner.ask(`/workspaces/${service.workspaceId}/switch`, {});
  });

  test('who is no owner of it neither archives nor deletes it, and a stranger does not find it', async () => {
    await owner.signIn('ada@acme.example');
    const admin = await inviteMember(service, owner, 'admin');
    const path = `/workspaces/${service.workspaceId}`;
    expect((await admin.browser.ask(path, { archived: true }, 'PATCH')).status).toBe(403);
    expect((await admin.browser.ask(path, {}, 'DELETE')).status).toBe(403);
    const { id } = (await owner.ask('/workspaces', { name: 'Apart' })).body.data;
    for (const [method, suffix] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/switch'],
    ] as const)
      expect((await admin.browser.ask(`/workspaces/${id}${suffix}`, {}, method)).status).toBe(404);
    expect((await admin.browser.ask('/workspaces', { name: 'Mine' })).status).toBe(403);
  });
});
