import { expect, test } from 'bun:test';
import { auditRuns } from '../../src/automation/flows/runs/audit-runs.ts';
import { MOST_MAILS } from '../../src/automation/flows/simulation/simulation-model.ts';
import { Findings } from '../../src/engine/audit/findings.ts';
import { eventually } from '../support/eventually.ts';
import { inEachWorld } from '../support/flow-world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;

inEachWorld('flows', (world) => {
  test('an event begins one run, which sends what the template says of contact and event', async () => {
    const { service, templateId, ok, aContact, aFlow, runsOf, follow, until, send } = world();
    const flow = await aFlow({
      trigger: {
        type: 'event',
        name: 'order.placed',
        filter: { field: 'event.total', operator: 'gt', value: 10 },
      },
      steps: [
        { key: 'thanks', ...send() },
        { key: 'later', type: 'delay', config: { amount: 2, unit: 'hours' } },
        { key: 'again', ...send({ subject: 'Again' }) },
      ],
      edges: [
        { from: 'thanks', to: 'later' },
        { from: 'later', to: 'again' },
      ],
    });
    const contact = await aContact({ properties: { plan: 'pro' } });
    ok(
      await service.live.post(`/v1/contacts/${contact}/events`, {
        name: 'order.placed',
        properties: { total: 5 },
      }),
    );
    ok(
      await service.live.post(`/v1/contacts/${contact}/events`, {
        name: 'order.placed',
        properties: { total: 42 },
      }),
    );
    const { id } = await eventually('a run', async () => {
      await follow();
      return (await runsOf(flow))[0];
    });
    const waiting = await until('the delay', id, ({ currentStep }) => currentStep === 'later');
    expect(waiting).toMatchObject({ status: 'waiting', flowVersion: 1, contactId: contact });
    expect(waiting.log).toEqual([
      { step: 'thanks', at: expect.any(String), outcome: 'sent', emailId: expect.stringMatching(/^em_/) },
    ]);
    const email = ok(await service.live.get(`/v1/emails/${waiting.log[0].emailId}`));
    expect(email).toMatchObject({ subject: 'Hello Ada', html: '<p>pro 42</p>', templateId });
    await service.pass(2 * HOUR);
    const done = await until('the end', id, ({ status }) => status === 'completed');
    expect(done.log.map(({ step, outcome }: Any) => [step, outcome])).toEqual([
      ['thanks', 'sent'],
      ['later', 'waited'],
      ['again', 'sent'],
    ]);
    const { stats } = ok(await service.live.get(`/v1/flows/${flow}`));
    expect(stats).toMatchObject({ entered: 1, completed: 1 });
    expect(stats.steps).toContainEqual({ step: 'thanks', outcome: 'sent', count: 1 });
  });

  test('all problems of a flow are reported at once, and keep it from being activated', async () => {
    const { service, ok } = world();
    const { id } = ok(
      await service.live.post('/v1/flows', {
        name: 'Wrong',
        trigger: { type: 'audienceJoined', audienceId: 'aud_000000000000000000000000' },
        steps: [
          { key: 'a', type: 'sendEmail', config: { templateId: 'nothing' } },
          {
            key: 'b',
            type: 'condition',
            config: { filter: { field: 'nonsense', operator: 'eq', value: 1 } },
          },
          { key: 'c', type: 'exit' },
        ],
        edges: [
          { from: 'a', to: 'b' },
          { from: 'b', to: 'a', when: 'met' },
        ],
      }),
    );
    const { problems, valid } = ok(await service.live.post(`/v1/flows/${id}/validate`));
    expect(valid).toBe(false);
    expect(problems.map(({ path }: Any) => path).toSorted()).toEqual([
      '/steps/0',
      '/steps/0/config/templateId',
      '/steps/1',
      '/steps/1/config/filter/field',
      '/steps/2',
      '/trigger/audienceId',
    ]);
    const refused = await service.live.post(`/v1/flows/${id}/activate`);
    expect(refused.status).toBe(422);
    expect(refused.body.error.details).toEqual(problems);
    expect((await service.test.post(`/v1/flows/${id}/activate`)).status).toBe(403);
    expect((await service.test.get(`/v1/flows/${id}`)).status).toBe(404);
    const crooked = { name: 'Crooked', exitWhen: [], trigger: { type: 'manual', filter: null } };
    const unread = await service.live.post('/v1/flows', crooked);
    expect(unread.body.error.details.map(({ path }: Any) => path)).toEqual([
      '/body/trigger/filter',
      '/body/exitWhen',
    ]);
  });

  test('a waiting run is woken by its event, or by the end of its time', async () => {
    const { service, ok, aContact, aFlow, runOf, follow, until } = world();
    const flow = await aFlow({
      trigger: { type: 'manual' },
      steps: [
        {
          key: 'wait',
          type: 'waitForEvent',
          config: {
            name: 'paid',
            filter: { field: 'event.method', operator: 'eq', value: 'card' },
            timeout: { amount: 3, unit: 'days' },
          },
        },
        { key: 'mark', type: 'updateContact', config: { properties: { paid: true } } },
        { key: 'gone', type: 'exit', config: { reason: 'unpaid' } },
      ],
      edges: [
        { from: 'wait', to: 'mark', when: 'event' },
        { from: 'wait', to: 'gone', when: 'timeout' },
      ],
    });
    const [one, two] = [await aContact(), await aContact()];
    const start = async (contactId: string) =>
      ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id;
    const [paying, other] = [await start(one), await start(two)];
    expect((await service.live.post(`/v1/flows/${flow}/runs`, { contactId: one })).status).toBe(409);
    for (const [contact, method] of [
      [one, 'cash'],
      [one, 'card'],
      [two, 'cash'],
    ])
      ok(await service.live.post(`/v1/contacts/${contact}/events`, { name: 'paid', properties: { method } }));
    await follow();
    expect((await until('the event', paying, ({ status }) => status === 'completed')).log).toMatchObject([
      { step: 'wait', outcome: 'event' },
      { step: 'mark', outcome: 'updated' },
    ]);
    expect(ok(await service.live.get(`/v1/contacts/${one}`)).properties).toEqual({ paid: true });
    expect(await runOf(other)).toMatchObject({ status: 'waiting', currentStep: 'wait' });
    await service.pass(3 * DAY);
    expect(await until('the timeout', other, ({ status }) => status === 'exited')).toMatchObject({
      reason: 'unpaid',
      log: [
        { step: 'wait', outcome: 'timeout' },
        { step: 'gone', outcome: 'exited' },
      ],
    });
  });

  test('a simulation walks the same way in virtual time, with the mails, and changes nothing', async () => {
    const { service, ok, runsOf, send } = world();
    const { id } = ok(
      await service.live.post('/v1/flows', {
        name: 'Simulated',
        trigger: { type: 'event', name: 'order.placed' },
        quietHours: { from: '22:00', to: '07:00', timeZone: 'UTC' },
        exitWhen: { field: 'activity.event:stop', operator: 'exists', value: true },
        steps: [
          { key: 'thanks', ...send() },
          {
            key: 'paid',
            type: 'waitForEvent',
            config: { name: 'paid', timeout: { amount: 1, unit: 'days' } },
          },
          { key: 'mark', type: 'updateContact', config: { properties: { plan: 'paid' } } },
          {
            key: 'isPaid',
            type: 'condition',
            config: { filter: { field: 'properties.plan', operator: 'eq', value: 'paid' } },
          },
          { key: 'after', ...send({ subject: 'Paid' }) },
        ],
        edges: [
          { from: 'thanks', to: 'paid' },
          { from: 'paid', to: 'mark', when: 'event' },
          { from: 'paid', to: 'thanks', when: 'timeout' },
          { from: 'mark', to: 'isPaid' },
          { from: 'isPaid', to: 'after', when: 'met' },
          { from: 'isPaid', to: 'mark', when: 'notMet' },
        ],
      }),
    );
    const simulate = async (events: object[], client = service.live): Promise<Any> =>
      client.post(`/v1/flows/${id}/simulate`, {
        contact: { email: 'new@example.com', firstName: 'Eve', properties: { plan: 'free' } },
        startAt: '2026-11-22T23:00:00Z',
        events: [
          { name: 'order.placed', properties: { total: 7 }, after: { amount: 0, unit: 'minutes' } },
          ...events,
        ],
      });
    // The loop over isPaid and mark waits nowhere, and is reported.
    expect((await simulate([])).status).toBe(422);
    ok(
      await service.live.patch(`/v1/flows/${id}`, {
        edges: [
          { from: 'thanks', to: 'paid' },
          { from: 'paid', to: 'mark', when: 'event' },
          { from: 'paid', to: 'thanks', when: 'timeout' },
          { from: 'mark', to: 'isPaid' },
          { from: 'isPaid', to: 'after', when: 'met' },
          { from: 'isPaid', to: 'paid', when: 'notMet' },
        ],
      }),
    );
    const { path, endedAs, endsAt } = ok(
      await simulate([{ name: 'paid', after: { amount: 2, unit: 'days' } }]),
    );
    expect(path.map(({ step, at, outcome }: Any) => `${at} ${step} ${outcome}`)).toEqual([
      '2026-11-23T07:00:00.000Z thanks sent',
      '2026-11-24T07:00:00.000Z paid timeout',
      '2026-11-24T07:00:00.000Z thanks sent',
      '2026-11-24T23:00:00.000Z paid event',
      '2026-11-24T23:00:00.000Z mark updated',
      '2026-11-24T23:00:00.000Z isPaid met',
      '2026-11-25T07:00:00.000Z after sent',
    ]);
    expect(path[0].email).toMatchObject({ subject: 'Hello Eve', html: '<p>free 7</p>', text: 'free 7' });
    expect(path[6].email).toMatchObject({ subject: 'Paid', html: '<p>paid 7</p>' });
    expect({ endedAs, endsAt }).toEqual({ endedAs: 'completed', endsAt: '2026-11-25T07:00:00.000Z' });
    const left = ok(await simulate([{ name: 'stop', after: { amount: 9, unit: 'hours' } }]));
    expect(left).toMatchObject({ endedAs: 'exited', endsAt: '2026-11-23T08:00:00.000Z' });
    const endless = ok(await simulate([]));
    // It may have taken as long as a walk may: the exact bounds are those of
    // tests/integration/flow-control.test.ts.
    expect(endless.endedAs).toBe('unfinished');
    expect(endless.path.length).toBeWithin(1, 2 * MOST_MAILS + 1);
    expect((await simulate([], service.test)).status).toBe(404);
    expect(await runsOf(id)).toEqual([]);
    expect((await service.live.get('/v1/contacts?email=new@example.com')).body.data).toEqual([]);
  });

  test('a paused flow lets its runs finish, holds them, or cancels them', async () => {
    const { service, templateId, ok, aContact, aFlow, runOf, until, send } = world();
    const flow = await aFlow({
      trigger: { type: 'manual' },
      reentry: 'afterExit',
      steps: [
        { key: 'wait', type: 'delay', config: { amount: 1, unit: 'hours' } },
        { key: 'hello', ...send() },
      ],
      edges: [{ from: 'wait', to: 'hello' }],
    });
    const start = async () =>
      ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() })).id;
    const held = await start();
    expect(ok(await service.live.post(`/v1/flows/${flow}/pause`, { runs: 'hold' })).status).toBe('paused');
    expect((await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() })).status).toBe(
      409,
    );
    await service.pass(HOUR);
    await eventually('the held run', async () => {
      const rows = await service.service.database.query<Any>('select state from flow_runs where id = $1', [
        held,
      ]);
      return rows[0].state === 'held' || undefined;
    });
    expect(await runOf(held)).toMatchObject({
      status: 'waiting',
      currentStep: 'wait',
      wakesAt: null,
      log: [],
    });
    // However long it was held: what was never tried is sent.
    await service.pass(2 * DAY);
    ok(await service.live.post(`/v1/flows/${flow}/activate`));
    expect((await until('the end', held, ({ status }) => status === 'completed')).log).toMatchObject([
      { step: 'wait', outcome: 'waited' },
      { step: 'hello', outcome: 'sent' },
    ]);
    const cancelled = await start();
    expect((await service.live.delete(`/v1/flows/${flow}`)).status).toBe(409);
    ok(await service.live.post(`/v1/flows/${flow}/pause`, { runs: 'cancel' }));
    expect((await runOf(cancelled)).status).toBe('cancelled');
    ok(await service.live.post(`/v1/flows/${flow}/activate`));
    const [one, two] = [await start(), await start()];
    ok(await service.live.delete(`/v1/flows/runs/${one}`));
    expect((await service.live.delete(`/v1/templates/${templateId}`)).status).toBe(409);
    expect((await service.live.delete(`/v1/flows/${flow}?runs=cancel`)).status).toBe(204);
    for (const id of [one, two]) expect((await runOf(id)).status).toBe('cancelled');
    expect((await service.live.get(`/v1/flows/${flow}`)).status).toBe(404);
  });

  test('runs stay with the version that they began with, while the next one is a draft beside it', async () => {
    const { service, ok, aContact, aFlow, until } = world();
    const wait = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'hours' } };
    const flow = await aFlow({ reentry: 'never', steps: [wait] });
    const contactId = await aContact();
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId }));
    const exit = { key: 'leave', type: 'exit', config: { reason: 'new' } };
    const changed = ok(
      await service.live.patch(`/v1/flows/${flow}`, { steps: [exit], entry: 'leave', edges: [] }),
    );
    expect(changed).toMatchObject({ status: 'active', version: 2, publishedVersion: 1 });
    ok(await service.live.post(`/v1/flows/${flow}/activate`));
    await service.pass(HOUR);
    expect(await until('the end', id, ({ endedAt }) => endedAt !== null)).toMatchObject({
      status: 'completed',
      flowVersion: 1,
    });
    expect((await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).status).toBe(409);
    const other = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() }));
    expect(other).toMatchObject({ status: 'exited', flowVersion: 2, reason: 'new' });
    const versions = ok(await service.live.get(`/v1/flows/${flow}/versions`));
    expect(versions.map(({ version, publishedAt }: Any) => [version, publishedAt !== null])).toEqual([
      [2, true],
      [1, true],
    ]);
  });

  test('the audit checks each run against its own version', async () => {
    const { service, ok, aContact, aFlow } = world();
    const { database } = service.service;
    const audit = async (): Promise<Findings> => {
      const findings = new Findings();
      const session = { query: database.query.bind(database), close: async () => {} };
      await auditRuns({
        session,
        findings,
        now: Date.now(),
        since: 0,
        removed: { test: 0, live: 0 },
        served: false,
        bodies: null,
      });
      return findings;
    };
    expect((await audit()).named).toEqual([]);
    const contact = await aContact();
    const flow = await aFlow({
      steps: [{ key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } }],
    });
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: contact }));
    await database.query(
      `insert into flow_run_log (run_id, visit, flow_id, step, at, outcome) values ($1, 9, $2, 'wait', now(), 'waited')`,
      [id, flow],
    );
    expect((await audit()).named).toEqual([
      { check: 'flows', id, what: 'a log entry for a step that the run has not reached' },
      { check: 'flows', id: flow, what: 'wait waited: the counts say 0, the rows say 1' },
    ]);
    await database.query(`update flow_runs set state = 'elsewhere' where id = $1`, [id]);
    expect((await audit()).wrongOf('snapshots')).toBe(1);
    await database.query(`delete from flow_runs where id = $1`, [id]);
    await database.query(`delete from flow_run_log where run_id = $1`, [id]);
    await database.query(`delete from flow_run_journal where actor_id = $1`, [id]);
  });
});
