import { expect, test } from 'bun:test';
import { createAudience, deleteAudience, patchAudience } from '../../src/audience/audiences/commands.ts';
import { ContactCounter } from '../../src/audience/audiences/count.ts';
import { proceed } from '../../src/audience/audiences/follower.ts';
import { noteMatches } from '../../src/audience/audiences/matches.ts';
import type { NewAudience, PatchAudience } from '../../src/audience/audiences/model.ts';
import { matchAudience } from '../../src/audience/audiences/queries.ts';
import type { Call } from '../../src/http/request/route.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { ManualClock, rowsOf } from '../support/engine.ts';
import { onEachStore } from '../support/shared-store.ts';

const plan = (value: string) => ({ field: 'properties.plan', operator: 'eq', value });

onEachStore('following dynamic audiences', (store) => {
  /** A separate workspace, with contacts a to d. */
  async function world(workspaceId: string, counting?: Pick<ContactCounter, 'count'>) {
    const { database } = store;
    // A slow statement is followed by a pause of nine times its time: here none takes any, on whatever
    // machine.
    const clock = Object.assign(new ManualClock(Date.parse('2026-11-22T12:00:00.000Z')), {
      monotonic: () => 0,
    });
    const counter = (counting ?? new ContactCounter(database)) as ContactCounter;
    const reader = { database, counter, uses: [] };
    const caller = { workspaceId, livemode: true };
    const call = <Body>(body: Body, id = '') =>
      ({ caller, params: { id }, body, claim: null, now: clock.now() }) as unknown as Call<
        { readonly id: string },
        unknown,
        Body
      >;
    const contact = async (name: string, properties: object) => {
      const id = mintId('con', clock.now());
      await rowsOf(
        database,
        `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
        values ($1, true, $2, $3, $3, $4::text::jsonb, 'subscribed', $5::timestamptz, $5::timestamptz)`,
        [
          workspaceId,
          id,
          `${name}@x.example`,
          JSON.stringify(properties),
          new Date(clock.now()).toISOString(),
        ],
      );
      return id;
    };
    return {
      clock,
      contact,
      audience: async (body: NewAudience) => {
        const made = await createAudience(reader, call(body));
        if (!('id' in made)) throw new Error(JSON.stringify(made));
        return made.id;
      },
      patch: (id: string, body: PatchAudience) => patchAudience(reader, call(body, id)),
      remove: (id: string) => deleteAudience(reader, call(undefined, id)),
      change: (id: string, properties: object) =>
        rowsOf(database, 'update contacts set properties = $2::text::jsonb where id = $1', [
          id,
          JSON.stringify(properties),
        ]),
      /** Walks through everybody who is due now. */
      async look() {
        while (await proceed({ database, clock }));
      },
      /** Walks through everybody, as often as it takes for a new filter to be known. */
      async walk() {
        for (let pass = 0; pass < 2; pass++) {
          clock.time += 30_000;
          while (await proceed({ database, clock }));
        }
      },
      activity: () =>
        rowsOf<{ type: string; email: string; subject: string }>(
          database,
          `select a.type, c.email, a.subject from contact_activity a join contacts c on c.id = a.contact_id
          where c.workspace_id = $1 and a.by_machine order by a.at, c.email`,
          [workspaceId],
        ),
    };
  }

  test('writes down who begins and who ceases to match, once', async () => {
    const { contact, audience, change, walk, activity } = await world('ws_follow');
    const [a, b] = [await contact('a', { plan: 'pro' }), await contact('b', { plan: 'free' })];
    const pro = await audience({ name: 'Pro', type: 'dynamic', filter: plan('pro') });
    await walk();
    expect(await activity(), 'whom a filter matches to begin with has not joined').toEqual([]);

    await change(a, { plan: 'free' });
    await change(b, { plan: 'pro' });
    await contact('c', { plan: 'pro' });
    await walk();
    const first = [
      { type: 'left', email: 'a@x.example', subject: pro },
      { type: 'joined', email: 'b@x.example', subject: pro },
      { type: 'joined', email: 'c@x.example', subject: pro },
    ];
    expect(await activity()).toEqual(first);
    await walk();
    expect(await activity(), 'nothing has changed').toEqual(first);
    await change(a, { plan: 'pro' });
    await walk();
    expect(await activity()).toEqual([...first, { type: 'joined', email: 'a@x.example', subject: pro }]);
  });

  test('a contact that is made before the audience is known has joined, by time alone one leaves', async () => {
    const { clock, contact, audience, walk, activity } = await world('ws_new');
    const recent = { field: 'createdAt', operator: 'withinLast', value: { amount: 1, unit: 'hours' } };
    const young = await audience({ name: 'New', type: 'dynamic', filter: recent });
    clock.time += 1_000;
    await contact('a', {});
    await walk();
    expect(await activity()).toEqual([{ type: 'joined', email: 'a@x.example', subject: young }]);
    clock.time += 3_600_000;
    await walk();
    expect((await activity()).map(({ type }) => type)).toEqual(['joined', 'left']);
  });

  test('a contact that joins a new audience and leaves it at once has left', async () => {
    const { clock, contact, audience, change, look, walk, activity } = await world('ws_at_once');
    const pro = await audience({ name: 'Pro', type: 'dynamic', filter: plan('pro') });
    clock.time += 1_000;
    const a = await contact('a', { plan: 'pro' });
    // The walk begins so soon after the filter was set that the next one begins from the beginning as well.
    await look();
    await change(a, { plan: 'free' });
    await walk();
    expect(await activity()).toEqual([
      { type: 'joined', email: 'a@x.example', subject: pro },
      { type: 'left', email: 'a@x.example', subject: pro },
    ]);
  });

  test('another filter is followed from the beginning, also by audiences that are made of it', async () => {
    const { contact, audience, patch, change, walk, activity } = await world('ws_patch');
    const a = await contact('a', { plan: 'free' });
    const one = await audience({ name: 'One', type: 'dynamic', filter: plan('pro') });
    const filter = { not: { field: 'audiences', operator: 'eq', value: one } };
    const other = await audience({ name: 'Other', type: 'dynamic', filter });
    await walk();
    await patch(one, { filter: plan('free') });
    await walk();
    expect(await activity()).toEqual([]);
    await change(a, { plan: 'none' });
    await walk();
    expect(await activity()).toEqual(
      expect.arrayContaining([
        { type: 'left', email: 'a@x.example', subject: one },
        { type: 'joined', email: 'a@x.example', subject: other },
      ]),
    );
  });

  test('of two instances that look at the same contacts one writes', async () => {
    const { contact, audience, change, walk, activity, clock } = await world('ws_two');
    const a = await contact('a', { plan: 'free' });
    const pro = await audience({ name: 'Pro', type: 'dynamic', filter: plan('pro') });
    await walk();
    await change(a, { plan: 'pro' });
    clock.time += 30_000;
    const scope = { workspaceId: 'ws_two', livemode: true };
    const condition = (await matchAudience(store, scope, pro, clock.now()))?.condition;
    if (!condition) throw new Error('The audience is not there.');
    const look = (after: number) =>
      noteMatches(store.database, { ...scope, after: '', most: 10, now: clock.now() + after }, [
        { id: pro, condition, since: null },
      ]);
    const noted = await Promise.all([look(1), look(2), look(3)]);
    expect(noted.reduce((sum, each) => sum + each.noted, 0)).toBe(1);
    expect(await activity()).toHaveLength(1);
  });

  test('a hundred audiences are asked at once, and there is no further one', async () => {
    const { contact, audience, change, walk, activity } = await world('ws_most');
    const a = await contact('a', { plan: 'free' });
    const opened = { field: 'activity.opened', operator: 'exists', value: true };
    const values = Array.from({ length: 100 }, (_, n) => `plan ${n}`);
    const filter = { or: [opened, { field: 'properties.p', operator: 'in', value: values }, plan('pro')] };
    const first = await audience({ name: 'First', type: 'dynamic', filter });
    await rowsOf(
      store.database,
      `insert into audiences (workspace_id, livemode, id, name, type, filter, public, confirm, filter_since, created_at, updated_at)
       select workspace_id, livemode, 'aud_copy' || n, name, type, filter, public, confirm, filter_since, created_at, updated_at
       from audiences, generate_series(1, 98) n where id = $1`,
      [first],
    );
    await audience({ name: 'Last', type: 'dynamic', filter });
    await expect(audience({ name: 'One more', type: 'dynamic', filter })).rejects.toThrow(
      '100 dynamic audiences',
    );
    await walk();
    await change(a, { plan: 'pro' });
    await walk();
    expect(await activity()).toHaveLength(100);
  });

  test('an audience is made although its contacts cannot be counted now', async () => {
    const { audience, patch } = await world('ws_uncounted', {
      count: () => Promise.reject(new UnavailableError('Too many counts.')),
    });
    const id = await audience({ name: 'Pro', type: 'dynamic', filter: plan('pro') });
    expect(await patch(id, { name: 'Professional' })).toMatchObject({
      name: 'Professional',
      contactCount: null,
    });
  });

  test('without dynamic audiences nothing is kept', async () => {
    const { contact, audience, remove, walk } = await world('ws_none');
    await contact('a', { plan: 'pro' });
    const pro = await audience({ name: 'Pro', type: 'dynamic', filter: plan('pro') });
    await walk();
    const kept = () =>
      rowsOf(store.database, `select 1 as one from audience_matches where workspace_id = 'ws_none'`);
    expect(await kept()).toHaveLength(1);
    await remove(pro);
    await walk();
    expect(await kept()).toEqual([]);
  });
});
