import { expect, test } from 'bun:test';
import { timePart, timePartSql } from '../../src/platform/db/ids.ts';
import { inEachWorld } from '../support/flow-world.ts';

// The traces of flow runs in the activity of a contact, and the needs of flows from audiences.

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;
const MARK = { key: 'mark', type: 'updateContact', config: { firstName: 'Marked' } };
const WAIT = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } };
const EXIT = { key: 'out', type: 'exit', config: { reason: 'enough' } };

inEachWorld('flows and people', (world) => {
  const query = (text: string, parameters: readonly string[]) =>
    world().service.service.database.query<Any>(text, [...parameters]);
  const activityOf = async (contact: string, more = ''): Promise<Any[]> =>
    world().ok(await world().service.live.get(`/v1/contacts/${contact}/activity${more}`));
  const begin = async (flow: string, contactId: string): Promise<string> =>
    world().ok(await world().service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id;
  const ended = (id: string) => world().until('the end', id, ({ endedAt }) => endedAt !== null);

  test('the activity of a contact has the runs that it began, finished, left and failed in, with flow and reason', async () => {
    const { aFlow, aContact, service } = world();
    const contact = await aContact();
    const own = async (name: string, steps: readonly object[]) => {
      const flow = await aFlow({ name, steps, edges: [] });
      return { flow, run: await begin(flow, contact) };
    };
    const finished = await own('Welcome', [MARK]);
    await ended(finished.run);
    const exited = await own('Trial', [EXIT]);
    await ended(exited.run);
    const failed = await own('Broken', [MARK]);
    await ended(failed.run);
    await query(
      `update flow_runs set status = 'failed', state = 'failed', context = jsonb_set(context::jsonb, '{reason}', '"runaway"')::json where id = $1`,
      [failed.run],
    );
    const cancelled = await own('Course', [WAIT]);
    expect((await service.live.delete(`/v1/flows/runs/${cancelled.run}`)).status).toBe(204);
    await ended(cancelled.run);
    const waiting = await own('Birthday', [WAIT]);
    const entries = await activityOf(contact);
    const told = entries
      .toReversed()
      .filter(({ runId }) => runId !== null)
      .map(({ type, name, flowId, runId, data, byMachine, audienceId, emailId }) => [
        type,
        name,
        flowId,
        runId,
        data,
        byMachine,
        audienceId,
        emailId,
      ]);
    const entry = (type: string, name: string, { flow, run }: { flow: string; run: string }, data = {}) => [
      type,
      name,
      flow,
      run,
      data,
      false,
      null,
      null,
    ];
    expect(told).toEqual([
      entry('flowStarted', 'Welcome', finished),
      entry('flowCompleted', 'Welcome', finished),
      entry('flowStarted', 'Trial', exited),
      entry('flowExited', 'Trial', exited, { reason: 'enough' }),
      entry('flowStarted', 'Broken', failed),
      entry('flowFailed', 'Broken', failed, { reason: 'runaway' }),
      entry('flowStarted', 'Course', cancelled),
      entry('flowCancelled', 'Course', cancelled),
      entry('flowStarted', 'Birthday', waiting),
    ]);
    for (const { at } of entries) expect(new Date(at).toISOString()).toBe(at);
    // An act of a flow is no act of the contact.
    const { lastActivityAt } = world().ok(await service.live.get(`/v1/contacts/${contact}`));
    expect(lastActivityAt).toBe(entries.find(({ runId }) => runId === null)?.at);
    expect((await activityOf(contact, '?type=flowFailed')).map(({ runId }) => runId)).toEqual([failed.run]);
    expect(await activityOf(contact, '?type=flowStarted')).toHaveLength(5);
  });

  test('entries of runs stand in one order with all others, page by page, also those of one millisecond', async () => {
    const { aFlow, aContact, service } = world();
    const contact = await aContact();
    const runs: string[] = [];
    for (const name of ['One', 'Two', 'Three']) {
      const flow = await aFlow({ name, steps: [MARK], edges: [] });
      const id = await begin(flow, contact);
      await ended(id);
      runs.push(id);
      await service.live.post(`/v1/contacts/${contact}/events`, { name: `after.${name}` });
    }
    for (const id of runs) await query('update flow_runs set ended_at = started_at where id = $1', [id]);
    const whole = await activityOf(contact);
    expect(whole.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 3 }, () => ['event', 'flowCompleted', 'flowStarted']).flat(),
      'created',
    ]);
    expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length);
    for (const { id } of whole) expect(id).toMatch(/^act_[0-9a-hjkmnp-tv-z]{24}$/);
    const paged: Any[] = [];
    let after = '';
    do {
      const { body } = await service.live.get(`/v1/contacts/${contact}/activity?limit=2${after}`);
      paged.push(...body.data);
      after = body.pagination.hasMore ? `&after=${body.pagination.nextCursor}` : '';
    } while (after !== '');
    expect(paged).toEqual(whole);
  });

  test('SQL names a moment as ids do', async () => {
    for (const ms of [0, 1, 31, 32, 1_700_000_000_000, Date.now(), 4_102_444_800_000]) {
      const [row] = await query(
        `select ${timePartSql(`timestamptz 'epoch' + $1::float8 * interval '1 millisecond'`)} as part`,
        [ms as never],
      );
      expect([ms, row.part]).toEqual([ms, timePart(ms)]);
    }
  });

  test('an audience that an active flow names is kept, wherever it names it', async () => {
    const { service, aFlow, fresh } = world();
    const anAudience = async (): Promise<string> =>
      world().ok(await service.live.post('/v1/audiences', { name: fresh() })).id;
    const [added, joined, asked, idle] = await Promise.all([
      anAudience(),
      anAudience(),
      anAudience(),
      anAudience(),
    ]);
    const filter = { field: 'audiences', operator: 'eq', value: asked };
    const flow = await aFlow({
      trigger: { type: 'audienceJoined', audienceId: joined },
      exitWhen: filter,
      steps: [{ key: 'add', type: 'addToAudience', config: { audienceId: added } }],
      edges: [],
    });
    for (const id of [added, joined, asked]) {
      const told = await service.live.delete(`/v1/audiences/${id}`);
      expect([told.status, told.body?.error.code, told.body?.error.message]).toEqual([
        409,
        'CONFLICT',
        'The audience is used by an active flow.',
      ]);
      expect((await service.live.get(`/v1/audiences/${id}`)).status).toBe(200);
    }
    expect((await service.live.delete(`/v1/audiences/${idle}`)).status).toBe(204);
    expect((await service.live.post(`/v1/flows/${flow}/pause`, { runs: 'hold' })).status).toBe(200);
    for (const id of [added, joined, asked])
      expect((await service.live.delete(`/v1/audiences/${id}`)).status).toBe(204);
  });

  test('a forgotten contact leaves every flow at once, whatever a run waits for', async () => {
    const { service, aFlow, aContact } = world();
    const [going, staying] = [await aContact(), await aContact()];
    const event = { key: 'event', type: 'waitForEvent', config: { name: 'never', timeout: WAIT.config } };
    const flows = [
      await aFlow({ steps: [WAIT], edges: [] }),
      await aFlow({
        steps: [event, EXIT],
        edges: [
          { from: 'event', to: 'out', when: 'event' },
          { from: 'event', to: 'out', when: 'timeout' },
        ],
      }),
    ];
    const runs = await Promise.all(flows.map((flow) => begin(flow, going)));
    const other = await begin(flows[0] as string, staying);
    expect((await service.live.delete(`/v1/contacts/${going}`)).status).toBe(204);
    for (const run of runs)
      expect(await ended(run)).toMatchObject({ status: 'exited', reason: 'contact_deleted' });
    expect(world().ok(await service.live.get(`/v1/flows/runs/${other}`)).endedAt).toBeNull();
  });
});
