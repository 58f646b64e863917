import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mintId } from '../../src/platform/db/ids.ts';
import { createPasskey } from '../support/passkey.ts';
import { Browser, ORIGIN, PASSWORD, setUpOwner } from './a-browser.ts';
import { type RealService, startRealService } from './real-service.ts';

// Limits that two requests at once could pass, each of which sees room for itself.

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, () => mintId(prefix, Date.now()));

/** Fifty ids, and the first two of them by themselves. */
const fiftyOf = (prefix: string): readonly (string | readonly string[])[] => {
  const all = ids(prefix, 50);
  return [all, ...all.slice(0, 2)];
};

// The embedded database has one connection, on which nothing is done at once: there the boundary is looked
// at.
describe.each([
  ['PostgreSQL', {}, 10],
  ['PGlite', { DATABASE_URL: '' }, 2],
] as const)('the last place on %s', (_, environment, rounds) => {
  let service: RealService;
  let owner: Browser;
  /** The same person with another session. */
  let another: Browser;

  beforeAll(async () => {
    service = await startRealService({ SIGNUP: 'open', ...environment });
    owner = await setUpOwner(service);
    another = new Browser(service);
    await another.signIn('ada@acme.example');
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const query = <Row extends object>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> =>
    service.service.database.query<Row>(text, parameters as never);

  /** Two who ask at once for what one of them may have, again and again. */
  const race = async (
    ask: () => Promise<{
      status: number;
      body: { data?: { id?: string }; error?: { message: string } } | null;
    }>,
    remove: (id: string) => Promise<unknown>,
  ): Promise<string> => {
    let refusal = '';
    for (let round = 0; round < rounds; round++) {
      const told = await Promise.all([ask(), ask()]);
      const statuses = told.map(({ status }) => status).toSorted();
      expect({ round, statuses }).toEqual({ round, statuses: [201, 409] });
      refusal = told.find(({ status }) => status === 409)?.body?.error?.message ?? '';
      await remove(told.find(({ status }) => status === 201)?.body?.data?.id ?? '');
    }
    return refusal;
  };

  test('of 500 flows of an environment', async () => {
    await query(
      `insert into flows (workspace_id, livemode, id, name, status, version, created_at, updated_at)
       select $1, true, unnest($2::text[]), 'x', 'draft', 1, now(), now()`,
      [service.workspaceId, ids('flw', 499)],
    );
    const refusal = await race(
      () => owner.ask('/live/flows', { name: 'Last' }),
      (id) => owner.ask(`/live/flows/${id}`, {}, 'DELETE'),
    );
    expect(refusal).toBe('This environment has 500 flows, the maximum.');
    expect((await owner.ask('/test/flows', { name: 'Another environment' })).status).toBe(201);
  });

  test('of 10,000 campaigns of an environment', async () => {
    const [audience] = [(await owner.ask('/live/audiences', { name: 'All' })).body.data.id];
    await query(
      `insert into campaigns (id, workspace_id, livemode, state, context, revision, machine_version, attempt)
       select unnest($2::text[]), $1, true, 'cancelled', '{}', 1, 1, 1`,
      [service.workspaceId, ids('cmp', 9_999)],
    );
    const refusal = await race(
      () => owner.ask('/live/campaigns', { name: 'Last', audienceId: audience }),
      (id) => owner.ask(`/live/campaigns/${id}`, {}, 'DELETE'),
    );
    expect(refusal).toBe('This environment has 10,000 campaigns, the maximum.');
  });

  test('of 100 invitations that wait', async () => {
    await query(
      `insert into invitations (id, workspace_id, email, email_key, role, invited_by, hash, expires_at)
       select i, $1, i, i, 'viewer', 'x', i, now() + interval '1 day' from unnest($2::text[]) i`,
      [service.workspaceId, ids('inv', 99)],
    );
    let asked = 0;
    const refusal = await race(
      () =>
        owner.ask('/live/members/invitations', { email: `guest-${++asked}@acme.example`, role: 'viewer' }),
      (id) => owner.ask(`/live/members/invitations/${id}`, {}, 'DELETE'),
    );
    expect(refusal).toContain('100 invitations are pending');
  });

  test('of 50 workspaces of a person', async () => {
    await query(
      `with made as (
         insert into workspaces (id, name, plan, created_at) select unnest($1::text[]), 'x', 'free', now() returning id
       )
       insert into members (id, workspace_id, account_id, role, joined_at)
       select replace(made.id, 'ws_', 'mem_'), made.id, a.id, 'owner', now() from made cross join accounts a`,
      [ids('ws', 48)],
    );
    const refusal = await race(
      () => owner.ask('/workspaces', { name: 'Last' }),
      (id) => query('delete from members where workspace_id = $1', [id]),
    );
    expect(refusal).toBe('A person belongs to at most 50 workspaces.');
  });

  test('of 20 passkeys of an account', async () => {
    await query(
      `insert into passkeys (id, credential, account_id, name, public_key, counter, transports)
       select p, p, a.id, 'x', 'x', 0, '[]' from unnest($1::text[]) p cross join accounts a`,
      [ids('psk', 19)],
    );
    const enrol = async () => {
      const options = await owner.ask('/account/passkeys/options', { password: PASSWORD });
      const challenge = options.body.data.challenge as string;
      return () =>
        owner.ask('/account/passkeys', {
          name: 'Last',
          response: createPasskey().enrol({ challenge, origin: ORIGIN, host: 'localhost' }),
        });
    };
    const told = await Promise.all((await Promise.all([enrol(), enrol()])).map((ask) => ask()));
    expect(told.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    expect((await owner.ask('/account/passkeys')).body.data).toHaveLength(20);
  });
  test('of 50 workspaces of a person who accepts two invitations', async () => {
    const tokens = ['a', 'b'].map((letter) => letter.repeat(43));
    const hashes = tokens.map((token) => createHash('sha256').update(token).digest('base64url'));
    await query(
      `with made as (
         insert into workspaces (id, name, plan, created_at) select unnest($1::text[]), 'x', 'free', now() returning id
       ), filled as (
         insert into members (id, workspace_id, account_id, role, joined_at)
         select replace(made.id, 'ws_', 'mem_'), made.id, a.id, 'owner', now() from made cross join accounts a
         where made.id not in ($2, $3) limit 49 - (select count(*) from members)
       )
       insert into invitations (id, workspace_id, email, email_key, role, invited_by, hash, expires_at)
       select replace(i.id, 'ws_', 'inv_'), i.id, a.email, a.email_key, 'viewer', 'x', i.hash, now() + interval '1 day'
       from accounts a cross join (values ($2, $4), ($3, $5)) i (id, hash)`,
      [...fiftyOf('ws'), ...hashes],
    );
    // Joining makes another session: each person begins with a separate one.
    const browsers = [owner, another] as const;
    const accept = (at: 0 | 1) => browsers[at].ask('/invitation', { token: tokens[at] });
    const told = await Promise.all([accept(0), accept(1)]);
    expect(told.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const refused = told[0].status === 409 ? 0 : 1;
    expect(told[refused].body.error.message).toBe('A person belongs to at most 50 workspaces.');
    // Its link still holds, once there is room.
    await query(`delete from members where role = 'viewer'`);
    expect((await accept(refused)).status).toBe(201);
  });

  test('of one change from a present password, which the others are refused as a wrong one', async () => {
    await query('delete from passkeys');
    const browsers = [new Browser(service), new Browser(service), new Browser(service)];
    for (const browser of browsers) expect((await browser.signIn('ada@acme.example')).status).toBe(200);
    const wanted = browsers.map((_browser, index) => `another long enough one ${index}`);
    const told = await Promise.all(
      browsers.map((browser, index) =>
        browser.ask('/account/password', { current: PASSWORD, new: wanted[index] }, 'PUT'),
      ),
    );
    expect(told.filter(({ status }) => status === 204)).toHaveLength(1);
    const winner = told.findIndex(({ status }) => status === 204);
    // A request that arrives after the change has no session any more.
    for (const [index, { status, body }] of told.entries())
      if (index !== winner)
        expect([status, body.error.message]).toEqual(
          status === 401 ? [401, expect.any(String)] : [403, 'The current password is wrong.'],
        );
    const open = await Promise.all(browsers.map((browser) => browser.ask('/session')));
    expect(open.map(({ status }) => status)).toEqual(
      browsers.map((_browser, index) => (index === winner ? 200 : 401)),
    );
    const held = await Promise.all(
      wanted.map(
        async (password) => (await new Browser(service).signIn('ada@acme.example', password)).status,
      ),
    );
    expect(held).toEqual(browsers.map((_browser, index) => (index === winner ? 200 : 401)));
  });
});
