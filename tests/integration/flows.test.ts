import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Findings } from '../../src/audit/findings.ts';
import { auditRuns } from '../../src/modules/flows/audit-runs.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('flows on %s', (_, environment) => {
  let service: LiveService;
  let templateId: string;
  let made = 0;

  beforeAll(async () => {
    service = await startLiveService({ environment });
    const template = await service.live.post('/v1/templates', {
      name: 'Hello',
      subject: 'Hello {{ contact.firstName }}',
      html: '<p>{{ contact.properties.plan }} {{ event.total }}</p>',
      from: 'Shop <shop@sender.example>',
    });
    templateId = template.body.data.id;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
  type Any = any;
  const ok = (told: { status: number; body: Any }): Any => {
    if (told.status >= 300) throw new Error(`${told.status} ${JSON.stringify(told.body)}`);
    return told.body?.data;
  };
  const aContact = async (more: object = {}): Promise<string> =>
    ok(
      await service.live.post('/v1/contacts', { email: `c${++made}@example.com`, firstName: 'Ada', ...more }),
    ).id;
  const aFlow = async (flow: object): Promise<string> => {
    const { id } = ok(await service.live.post('/v1/flows', { name: `Flow ${++made}`, ...flow }));
    ok(await service.live.post(`/v1/flows/${id}/activate`));
    return id;
  };
  const runsOf = async (id: string): Promise<Any[]> => ok(await service.live.get(`/v1/flows/${id}/runs`));
  const runOf = async (id: string): Promise<Any> => ok(await service.live.get(`/v1/flows/runs/${id}`));
  const follow = () => service.service.duties.find(({ name }) => name === 'flowFollower')?.run();
  const until = (what: string, id: string, is: (run: Any) => boolean): Promise<Any> =>
    eventually(what, async () => {
      const run = await runOf(id);
      return is(run) ? run : undefined;
    });
  const firstRun = (flow: string): Promise<Any> =>
    eventually('a run', async () => {
      await follow();
      return (await runsOf(flow))[0];
    });
  const send = (more: object = {}) => ({ type: 'sendEmail', config: { templateId, ...more } });

  test('an event begins one run, which sends what the template says of contact and event', async () => {
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
    const { id } = await firstRun(flow);
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

  test('what is wrong with a flow is told all at once, and keeps it from being activated', async () => {
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
  });

  test('a waiting run is woken by its event, or by the end of its time', async () => {
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

  test('the audit checks each run against its own version', async () => {
    const { database } = service.service;
    const audit = async (): Promise<Findings> => {
      const findings = new Findings();
      const session = { query: database.query.bind(database), close: async () => {} };
      await auditRuns({ session, findings, now: Date.now(), since: 0, served: false });
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
      { check: 'flows', id, what: 'a step in the log that it has not come to' },
    ]);
    await database.query(`update flow_runs set state = 'elsewhere' where id = $1`, [id]);
    expect((await audit()).wrongOf('snapshots')).toBe(1);
    await database.query(`delete from flow_runs where id = $1`, [id]);
    await database.query(`delete from flow_run_log where run_id = $1`, [id]);
    await database.query(`delete from flow_run_journal where actor_id = $1`, [id]);
  });
});
