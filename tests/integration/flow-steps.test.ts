import { expect, test } from 'bun:test';
import { leaveAudience } from '../../src/audience/audiences/commands.ts';
import { eventually } from '../support/eventually.ts';
import { type FlowWorld, inEachWorld } from '../support/flow-world.ts';
import { openReceiver } from '../support/webhook-world.ts';

// The effect of each type of step, and runs whose surroundings disappear meanwhile.

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;
const SECOND = 1_000;
const HOUR = 3_600_000;

const rest = (key = 'rest') => ({ key, type: 'delay', config: { amount: 1, unit: 'hours' } });
const mark = { key: 'mark', type: 'updateContact', config: { properties: { marked: true } } };
const timeout = { amount: 9, unit: 'days' };
const wait = (name: string) => ({ key: 'wait', type: 'waitForEvent', config: { name, timeout } });
const isPlan = (value: string) => ({ field: 'properties.plan', operator: 'eq', value });
const outcomesOf = ({ log }: Any): readonly string[] =>
  log.map(({ step, outcome }: Any) => `${step} ${outcome}`);

inEachWorld('steps', (world) => {
  const begin = async ({ service, ok }: FlowWorld, flow: string, contactId: string): Promise<string> =>
    ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id;
  const ended = ({ until }: FlowWorld, id: string): Promise<Any> =>
    until('the end', id, ({ endedAt }) => endedAt !== null);

  test('of every type do what they say, in the order of the edges', async () => {
    const { service, ok, aFlow, aContact, fresh } = world();
    using receiver = openReceiver();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({
      steps: [
        { key: 'mark', type: 'updateContact', config: { lastName: 'Byron', properties: { plan: 'pro' } } },
        { key: 'ask', type: 'condition', config: { filter: isPlan('pro') } },
        {
          key: 'split',
          type: 'branch',
          config: {
            branches: [
              { key: 'free', filter: isPlan('free') },
              { key: 'paid', filter: isPlan('pro') },
            ],
          },
        },
        { key: 'add', type: 'addToAudience', config: { audienceId } },
        {
          key: 'isIn',
          type: 'condition',
          config: { filter: { field: 'audiences', operator: 'eq', value: audienceId } },
        },
        { key: 'remove', type: 'removeFromAudience', config: { audienceId } },
        { key: 'tell', type: 'webhook', config: { url: receiver.url } },
        { key: 'moment', type: 'delayUntil', config: { at: '2026-01-01T00:00:00Z' } },
        { key: 'leave', type: 'exit', config: { reason: 'all done' } },
        { key: 'lost', type: 'exit' },
      ],
      edges: [
        { from: 'mark', to: 'ask' },
        { from: 'ask', to: 'split', when: 'met' },
        { from: 'ask', to: 'lost', when: 'notMet' },
        { from: 'split', to: 'lost', when: 'free' },
        { from: 'split', to: 'add', when: 'paid' },
        { from: 'split', to: 'lost', when: 'default' },
        { from: 'add', to: 'isIn' },
        { from: 'isIn', to: 'remove', when: 'met' },
        { from: 'isIn', to: 'lost', when: 'notMet' },
        { from: 'remove', to: 'tell' },
        { from: 'tell', to: 'moment' },
        { from: 'moment', to: 'leave' },
      ],
    });
    const contactId = await aContact();
    const run = await ended(world(), await begin(world(), flow, contactId));
    expect(outcomesOf(run)).toEqual([
      'mark updated',
      'ask met',
      'split paid',
      'add added',
      'isIn met',
      'remove removed',
      'tell posted',
      'moment waited',
      'leave exited',
    ]);
    expect(run).toMatchObject({ status: 'exited', reason: 'all done', currentStep: 'leave', wakesAt: null });
    const named = { firstName: 'Ada', lastName: 'Byron', properties: { plan: 'pro' }, audienceIds: [] };
    expect(ok(await service.live.get(`/v1/contacts/${contactId}`))).toMatchObject(named);
    expect(JSON.parse(receiver.received[0]?.body ?? '{}')).toMatchObject({
      flowId: flow,
      runId: run.id,
      step: 'tell',
      contact: { id: contactId, lastName: 'Byron' },
      event: null,
    });
  });

  test('that post are tried again later with the same id, six times at the most', async () => {
    const { service, ok, aFlow, aContact, runOf, until } = world();
    using receiver = openReceiver();
    let refusals = 2;
    receiver.answer = () => new Response('', { status: refusals-- > 0 ? 500 : 200 });
    const flow = await aFlow({ steps: [{ key: 'tell', type: 'webhook', config: { url: receiver.url } }] });
    const later = async (id: string): Promise<void> => {
      const { wakesAt } = await until('the next try', id, (run) => run.wakesAt !== null);
      await service.pass(Date.parse(wakesAt) - service.service.clock.now() + SECOND);
    };
    const answered = await begin(world(), flow, await aContact());
    for (let tried = 1; tried <= 2; tried++) await later(answered);
    expect(outcomesOf(await ended(world(), answered))).toEqual(['tell posted']);
    expect(receiver.received.map(({ event }) => event.id)).toEqual(Array(3).fill(`${answered}.1`));
    refusals = 100;
    const never = await begin(world(), flow, await aContact());
    for (let tried = 1; tried <= 5; tried++) await later(never);
    expect(outcomesOf(await ended(world(), never))).toEqual(['tell failed: no success after 6 attempts']);
    expect(receiver.received).toHaveLength(3 + 6);
    expect(await runOf(never)).toMatchObject({ status: 'completed' });
    // An address that must not be reached is refused beforehand.
    for (const url of [
      'http://169.254.169.254/latest',
      'ftp://example.com/',
      'http://ada:secret@example.com/',
    ]) {
      const { id } = ok(
        await service.live.post('/v1/flows', {
          name: url,
          steps: [{ key: 'tell', type: 'webhook', config: { url } }],
        }),
      );
      const refused = await service.live.post(`/v1/flows/${id}/activate`);
      expect([url, refused.body.error?.details[0].path]).toEqual([url, '/steps/0/config/url']);
    }
  });

  test('that are held go on where they were, and events that came meanwhile count', async () => {
    const { service, ok, aFlow, aContact, follow, until } = world();
    const flow = await aFlow({
      steps: [wait('go'), mark],
      edges: [{ from: 'wait', to: 'mark', when: 'event' }],
    });
    const contactId = await aContact();
    const id = await begin(world(), flow, contactId);
    ok(await service.live.post(`/v1/flows/${flow}/pause`, { runs: 'hold' }));
    ok(await service.live.post(`/v1/contacts/${contactId}/events`, { name: 'go' }));
    await eventually('the run is held', async () => {
      await follow();
      const [row] = await service.service.database.query<Any>('select state from flow_runs where id = $1', [
        id,
      ]);
      return row.state === 'held' || undefined;
    });
    expect(ok(await service.live.get(`/v1/contacts/${contactId}`)).properties).toEqual({});
    ok(await service.live.post(`/v1/flows/${flow}/activate`));
    expect(outcomesOf(await until('the end', id, ({ status }) => status === 'completed'))).toEqual([
      'wait event',
      'mark updated',
    ]);
  });

  test('of a paused flow go on to their end unless it says otherwise, and no run begins', async () => {
    const { service, ok, aFlow, aContact } = world();
    const flow = await aFlow({ steps: [rest(), mark], edges: [{ from: 'rest', to: 'mark' }] });
    const id = await begin(world(), flow, await aContact());
    expect(ok(await service.live.post(`/v1/flows/${flow}/pause`)).status).toBe('paused');
    const refused = await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() });
    expect(refused.status).toBe(409);
    await service.pass(HOUR);
    expect(outcomesOf(await ended(world(), id))).toEqual(['rest waited', 'mark updated']);
  });

  test('leaving an audience begins a run, and where it is allowed a second one behind the first', async () => {
    const { service, ok, aFlow, aContact, runsOf, follow, fresh } = world();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({
      trigger: { type: 'audienceLeft', audienceId },
      reentry: 'afterExit',
      steps: [{ key: 'leave', type: 'exit' }],
    });
    const contactId = await aContact();
    for (let round = 1; round <= 2; round++) {
      ok(await service.live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [contactId] }));
      ok(await service.live.delete(`/v1/audiences/${audienceId}/contacts/${contactId}`));
      await eventually(`run ${round}`, async () => {
        await follow();
        const runs = await runsOf(flow);
        return (runs.length === round && runs.every(({ endedAt }) => endedAt !== null)) || undefined;
      });
    }
    const listed = async (query: string): Promise<number> =>
      ok(await service.live.get(`/v1/flows/${flow}/runs?${query}`)).length;
    expect(await listed(`contactId=${contactId}&status=exited&step=leave&version=1`)).toBe(2);
    for (const none of ['status=waiting', 'step=elsewhere', 'version=2', 'contactId=con_nobody'])
      expect(await listed(none)).toBe(0);
    const [{ id }] = await runsOf(flow);
    expect((await service.live.delete(`/v1/flows/runs/${id}`)).status).toBe(409);
  });

  test('a person who had left before their contact was deleted does not leave once more when it is made again', async () => {
    const { service, ok, aFlow, runsOf, follow, fresh } = world();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({
      trigger: { type: 'audienceLeft', audienceId },
      reentry: 'afterExit',
      steps: [{ key: 'leave', type: 'exit' }],
    });
    const addressOf = () => `${crypto.randomUUID()}@left.example`;
    const [before, after] = [addressOf(), addressOf()];
    const [{ id: workspaceId } = { id: '' }] = await service.service.database.query<{ id: string }>(
      'select id from workspaces',
    );
    const leaves = async (email: string): Promise<string> => {
      const { id: contactId } = ok(await service.live.post('/v1/contacts', { email }));
      const now = service.service.clock.now();
      const leaving = { workspaceId, livemode: true, audienceId, contactId, now };
      await leaveAudience(service.service.database, { ...leaving, own: { source: 'page' } });
      return contactId;
    };
    await leaves(before);
    ok(await service.live.delete(`/v1/contacts/${before}`));
    const { id: again } = ok(await service.live.post('/v1/contacts', { email: before }));
    const activity = ok(await service.live.get(`/v1/contacts/${again}/activity?type=left`));
    expect(activity).toMatchObject([{ audienceId, data: { source: 'earlier contact' } }]);
    // A leaving behind it is followed later.
    const last = await leaves(after);
    const runs = await eventually('the run of the last one', async () => {
      await follow();
      const found = await runsOf(flow);
      return found.some(({ contactId }) => contactId === last) ? found : undefined;
    });
    expect(runs.map(({ contactId }) => contactId)).not.toContain(again);
  });

  test('of a run that began with an audience write to no one who has left it since by themselves', async () => {
    const { service, ok, aFlow, aContact, runsOf, follow, fresh, send } = world();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({
      trigger: { type: 'audienceJoined', audienceId },
      steps: [rest(), { key: 'mail', ...send() }],
      edges: [{ from: 'rest', to: 'mail' }],
    });
    const [left, removed, back] = [await aContact(), await aContact(), await aContact()];
    const add = (contactId: string, more: object = {}) =>
      service.live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [contactId], ...more });
    for (const one of [left, removed, back]) ok(await add(one));
    const runOf = (contactId: string) =>
      eventually('the run', async () => {
        await follow();
        return (await runsOf(flow)).find((run) => run.contactId === contactId)?.id as string | undefined;
      });
    const runs = [await runOf(left), await runOf(removed), await runOf(back)];
    const { database, clock } = service.service;
    const [{ id: workspaceId } = { id: '' }] = await database.query<{ id: string }>(
      'select id from workspaces',
    );
    const scope = { workspaceId, livemode: true, audienceId, now: clock.now() };
    for (const contactId of [left, back])
      await leaveAudience(database, { ...scope, contactId, own: { source: 'oneClick', campaignId: null } });
    ok(await service.live.delete(`/v1/audiences/${audienceId}/contacts/${removed}`));
    ok(await add(back, { consent: { source: 'form', at: service.today() } }));
    await service.pass(HOUR);
    const ends = [];
    for (const run of runs) ends.push(outcomesOf(await ended(world(), run)).at(-1));
    expect(ends).toEqual(['mail skipped: unsubscribed', 'mail sent', 'mail sent']);
  });

  test('begin once a filter becomes true of a contact, and of others once it is no longer', async () => {
    const { service, ok, aFlow, aContact, runsOf, follow, fresh } = world();
    const plan = fresh();
    const filter = isPlan(plan);
    const { id: audienceId } = ok(
      await service.live.post('/v1/audiences', { name: fresh(), type: 'dynamic', filter }),
    );
    const flowOf = (type: string) =>
      aFlow({ trigger: { type, audienceId }, steps: [{ key: 'leave', type: 'exit' }] });
    const [joined, left] = [await flowOf('audienceJoined'), await flowOf('audienceLeft')];
    const contactId = await aContact();
    const walk = service.service.duties.find(({ name }) => name === 'audienceFollower');
    const begun = async (flow: string, value: string) => {
      ok(await service.live.patch(`/v1/contacts/${contactId}`, { properties: { plan: value } }));
      await eventually('the run', async () => {
        await service.pass(30 * SECOND);
        await walk?.run();
        await follow();
        return (await runsOf(flow)).length > 0 || undefined;
      });
      expect((await runsOf(flow)).map((run) => run.contactId)).toEqual([contactId]);
    };
    await begun(joined, plan);
    expect(await runsOf(left)).toEqual([]);
    await begun(left, 'other');
  });

  test('whose template, audience or contact has gone are passed over, or the run ends', async () => {
    const { service, ok, aFlow, aContact, fresh } = world();
    const said = { name: fresh(), subject: 'S', html: '<p>Hi</p>', from: 'shop@sender.example' };
    const { id: templateId } = ok(await service.live.post('/v1/templates', said));
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({
      steps: [
        rest(),
        { key: 'mail', type: 'sendEmail', config: { templateId } },
        { key: 'add', type: 'addToAudience', config: { audienceId } },
        { key: 'remove', type: 'removeFromAudience', config: { audienceId } },
      ],
      edges: [
        { from: 'rest', to: 'mail' },
        { from: 'mail', to: 'add' },
        { from: 'add', to: 'remove' },
      ],
    });
    const [stays, goes] = [await aContact(), await aContact()];
    const [staying, going] = [await begin(world(), flow, stays), await begin(world(), flow, goes)];
    for (const used of [`/v1/templates/${templateId}`, `/v1/audiences/${audienceId}`])
      expect((await service.live.delete(used)).body.error).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('is used by an active flow'),
      });
    ok(await service.live.post(`/v1/flows/${flow}/pause`));
    expect((await service.live.delete(`/v1/templates/${templateId}`)).status).toBe(204);
    expect((await service.live.delete(`/v1/audiences/${audienceId}`)).status).toBe(204);
    expect((await service.live.delete(`/v1/contacts/${goes}`)).status).toBe(204);
    await service.pass(HOUR);
    expect(outcomesOf(await ended(world(), staying))).toEqual([
      'rest waited',
      expect.stringMatching(/^mail skipped: .*template/),
      'add skipped: not_possible',
      'remove skipped: not_possible',
    ]);
    expect(await ended(world(), going)).toMatchObject({ status: 'exited', reason: 'contact_deleted' });
  });

  test('keep their template and audience after an edit of the flow, until they end', async () => {
    const { service, ok, aFlow, aContact, fresh } = world();
    const said = { name: fresh(), subject: 'S', html: '<p>Hi</p>', from: 'shop@sender.example' };
    const { id: templateId } = ok(await service.live.post('/v1/templates', said));
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({
      steps: [
        rest(),
        { key: 'mail', type: 'sendEmail', config: { templateId } },
        { key: 'add', type: 'addToAudience', config: { audienceId } },
      ],
      edges: [
        { from: 'rest', to: 'mail' },
        { from: 'mail', to: 'add' },
      ],
    });
    const run = await begin(world(), flow, await aContact());
    ok(await service.live.patch(`/v1/flows/${flow}`, { steps: [rest()], edges: [] }));
    ok(await service.live.post(`/v1/flows/${flow}/activate`));
    const used = [`/v1/templates/${templateId}`, `/v1/audiences/${audienceId}`];
    for (const path of used)
      expect((await service.live.delete(path)).body?.error).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('is used by runs of an earlier version of an active flow'),
      });
    await service.pass(HOUR);
    expect(outcomesOf(await ended(world(), run))).toEqual(['rest waited', 'mail sent', 'add added']);
    for (const path of used) expect((await service.live.delete(path)).status).toBe(204);
  });

  test('of an archived workspace wait, and no run begins, until it is in use again', async () => {
    const { service, aFlow, aContact, runOf, runsOf, follow, until } = world();
    const { database } = service.service;
    const flow = await aFlow({ steps: [rest(), mark], edges: [{ from: 'rest', to: 'mark' }] });
    const listening = await aFlow({
      trigger: { type: 'event', name: 'archived' },
      steps: [{ key: 'leave', type: 'exit' }],
    });
    const contactId = await aContact();
    const id = await begin(world(), flow, contactId);
    const archive = (moment: string) => database.query(`update workspaces set archived_at = ${moment}`);
    await archive('now()');
    await service.pass(HOUR);
    await database.query(
      `insert into contact_activity (contact_id, id, livemode, type, at, subject) values ($1, 'act_archived', true, 'event', now(), 'archived')`,
      [contactId],
    );
    await eventually('the step waits', async () => {
      const [run] = await database.query<Any>('select state from flow_runs where id = $1', [id]);
      return run.state === 'postponed' || undefined;
    });
    await eventually('the event has been passed over', async () => {
      await follow();
      const [feed] = await database.query<Any>(
        `select (f.position, f.id) >= (a.position, a.id) as is_behind from flow_feed f cross join contact_activity a where a.id = 'act_archived'`,
      );
      return feed.is_behind || undefined;
    });
    await archive('null');
    expect(await runOf(id)).toMatchObject({ status: 'waiting', currentStep: 'mark' });
    await service.pass(HOUR);
    await until('the end', id, ({ status }) => status === 'completed');
    await follow();
    expect(await runsOf(listening)).toEqual([]);
  });
});
