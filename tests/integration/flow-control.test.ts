import { expect, test } from 'bun:test';
import type { FlowDefinition } from '../../machines/flow-run/definition.ts';
import { activateFlow } from '../../src/automation/flows/commands.ts';
import { auditRuns } from '../../src/automation/flows/runs/audit-runs.ts';
import { flowPerformer } from '../../src/automation/flows/runs/performer.ts';
import { simulateFlow } from '../../src/automation/flows/simulation/simulate.ts';
import {
  MOST_MAIL_LENGTH,
  MOST_MAILS,
  MOST_WALKED,
} from '../../src/automation/flows/simulation/simulation-model.ts';
import { enroller } from '../../src/automation/flows/triggers/enrol.ts';
import { cancelRuns, runPruner, runSettler } from '../../src/automation/flows/triggers/settle.ts';
import { Findings } from '../../src/engine/audit/findings.ts';
import type { Order } from '../../src/engine/machine/draft.ts';
import { FairQueue } from '../../src/platform/async/fair-slots.ts';
import { LONGEST_RETENTION } from '../../src/platform/config/settings/settings.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import type { ActorLife } from '../../src/web/live/model.ts';
import { type FlowWorld, inEachWorld } from '../support/flow-world.ts';
import { openReceiver } from '../support/webhook-world.ts';
import { sessionCookie } from './inspector-viewer.ts';

// These guarantees hold when a person, or something late, comes between two steps of the service.

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;
const DAY = 86_400_000;
const WAIT = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } } as const;

const partsOf = ({ service }: FlowWorld) => {
  const { database, engine } = service.service;
  return { database, engine, clock: { now: () => Date.now(), monotonic: () => performance.now() } };
};

async function auditOf(world: FlowWorld): Promise<Findings> {
  const { database } = partsOf(world);
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
}

inEachWorld('what comes between', (world) => {
  const scopeOf = async () => {
    const [row] = await partsOf(world()).database.query<{ id: string }>('select id from workspaces');
    return { workspaceId: row?.id ?? '', livemode: true };
  };
  /** A call as the pipeline makes it, for a command that is asked directly. */
  const callOf = async (id: string, body: object = {}): Promise<Any> => ({
    caller: await scopeOf(),
    params: { id },
    body,
    query: {},
    now: Date.now(),
    claim: null,
  });

  test('an order that waited longer than its lease does nothing once its step is over', async () => {
    const { service, ok, aFlow, aContact, until } = world();
    const flow = await aFlow({
      steps: [{ key: 'mark', type: 'updateContact', config: { firstName: 'Marked' } }, WAIT],
      edges: [{ from: 'mark', to: 'wait' }],
    });
    const contactId = await aContact();
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId }));
    await until('the delay', id, ({ currentStep }) => currentStep === 'wait');
    ok(await service.live.patch(`/v1/contacts/${contactId}`, { firstName: 'Changed' }));
    const order = {
      kind: 'flowRun',
      actor: {
        id,
        ...(await scopeOf()),
        definitionId: `${flow}:1`,
        snapshot: {
          value: 'mark',
          status: 'active',
          context: { step: 'mark', visit: 1, attempt: 1, contactId },
        },
      },
      effect: { type: 'perform', params: { step: 'mark', visit: 1, attempt: 1 } },
    } as unknown as Order;
    const { signer } = service;
    const performer = flowPerformer({ ...partsOf(world()), signer, tellsSes: false } as Any);
    expect(await performer.perform(order, (async () => {}) as Any)).toEqual([]);
    expect(ok(await service.live.get(`/v1/contacts/${contactId}`)).firstName).toBe('Changed');
  });

  test('a request that finds no place beside those that wait comes later, and has not been tried', async () => {
    const { service, ok, aFlow, aContact, until } = world();
    const hook = { key: 'tell', type: 'webhook', config: { url: 'http://127.0.0.1:9/' } };
    const flow = await aFlow({ steps: [WAIT, hook], edges: [{ from: 'wait', to: 'tell' }] });
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() }));
    await until('the delay', id, ({ currentStep }) => currentStep === 'wait');
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { database } = partsOf(world());
    const gated = {
      query: async (text: string, parameters: readonly string[]) => {
        if (text.includes(' as act')) await gate;
        return database.query(text, parameters);
      },
    };
    const clock = { now: () => 1_000 };
    const performer = flowPerformer(
      { database: gated, clock } as Any,
      new FairQueue({ total: 8, perKey: 1, backlog: 1 }),
    );
    const order = {
      actor: { id, workspaceId: 'ws_1', definitionId: `${flow}:1`, snapshot: { context: { step: 'tell' } } },
      effect: { type: 'perform', params: { step: 'tell', visit: 2, attempt: 1 } },
    } as unknown as Order;
    // One is carried out, one waits behind it, and there is no place for another.
    const three = [1, 2, 3].map(() => performer.perform(order, (async () => {}) as Any));
    const passedOver = { type: 'step.postponed', at: 1_000, visit: 2, until: 301_000, isUntried: true };
    expect(await Promise.race(three)).toEqual([passedOver as Any]);
    open();
    expect((await Promise.all(three)).flat()).toEqual([passedOver as Any]);
    // Nor is what still waits at the stop a try.
    performer.stop?.();
    expect(await performer.perform(order, (async () => {}) as Any)).toEqual([]);
  });

  test('a run that is cancelled while its request is being answered tells what came of it', async () => {
    const { service, ok, aFlow, aContact, until } = world();
    using receiver = openReceiver();
    const { promise: gate, resolve: open } = Promise.withResolvers<Response>();
    receiver.answer = () => gate;
    const tell = { key: 'tell', type: 'webhook', config: { url: receiver.url } };
    const flow = await aFlow({ steps: [tell, WAIT], edges: [{ from: 'tell', to: 'wait' }] });
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() }));
    await receiver.until(1);
    expect((await service.live.delete(`/v1/flows/runs/${id}`)).status).toBe(204);
    const cancelled = await until('the end', id, ({ status }) => status === 'cancelled');
    expect(cancelled.log).toEqual([]);
    open(new Response('ok'));
    const { endedAt, log, ...run } = await until('the log', id, (told) => told.log.length > 0);
    expect(log.map(({ step, outcome }: Any) => [step, outcome])).toEqual([['tell', 'posted']]);
    expect({ ...run, endedAt }).toMatchObject({ status: 'cancelled', endedAt: cancelled.endedAt });
    const { stats } = ok(await service.live.get(`/v1/flows/${flow}`));
    expect(stats).toMatchObject({ entered: 1, cancelled: 1, steps: [{ step: 'tell' }] });
    expect((await auditOf(world())).named).toEqual([]);
  });

  test('a flow that is changed while it is checked is not published unchecked', async () => {
    const { service, ok } = world();
    const hook = { key: 'tell', type: 'webhook', config: { url: 'http://127.0.0.1:9/' } };
    const { id } = ok(await service.live.post('/v1/flows', { name: 'Raced', steps: [hook] }));
    const commands = {
      ...partsOf(world()),
      // A flow that cannot run is saved while the URL of this one is looked at.
      problemOfUrl: async () => {
        ok(
          await service.live.patch(`/v1/flows/${id}`, { steps: [{ ...hook, key: 'other' }], entry: 'gone' }),
        );
        return null;
      },
      findSendingDomain: async () => ({}),
      release: async () => {},
      cancelRuns: async () => {},
    };
    const answer = await activateFlow(commands, await callOf(id));
    expect(answer).toBeInstanceOf(Failure);
    expect(answer).toMatchObject({ code: 'CONFLICT' });
    expect(ok(await service.live.get(`/v1/flows/${id}`))).toMatchObject({
      status: 'draft',
      publishedVersion: null,
      entry: 'gone',
    });
  });

  test('a cancellation that is cut off among many runs goes on, and counts each once', async () => {
    const { service, ok, aFlow, aContact } = world();
    const { database, ...parts } = partsOf(world());
    const flow = await aFlow({ trigger: { type: 'manual' }, steps: [WAIT] });
    const enrol = enroller({ database, ...parts });
    const contacts = await Promise.all(Array.from({ length: 30 }, () => aContact()));
    await enrol(
      { ...(await scopeOf()), flowId: flow, version: 1 },
      contacts.map((contactId) => ({ contactId, key: contactId, eventId: null, position: '1', depth: 0 })),
    );
    await database.query(`update flows set status = 'paused', cancels_before = now() where id = $1`, [flow]);
    const statsOf = async () => ok(await service.live.get(`/v1/flows/${flow}`)).stats;
    // As when the request that asked for it has waited for three seconds.
    await cancelRuns({ database, ...parts }, flow, AbortSignal.abort());
    expect(await statsOf()).toMatchObject({ entered: 30, waiting: 30, cancelled: 0 });
    await runSettler({ database, ...parts }).run();
    expect(await statsOf()).toMatchObject({ entered: 30, waiting: 0, running: 0, cancelled: 30 });
    const [row] = await database.query<Any>('select cancels_before from flows where id = $1', [flow]);
    expect(row.cancels_before).toBeNull();
    expect((await auditOf(world())).named).toEqual([]);
  });

  test('what was counted of runs goes with them', async () => {
    const { service, ok, aFlow, aContact, until } = world();
    const { database } = partsOf(world());
    const flow = await aFlow({ trigger: { type: 'manual' }, steps: [{ key: 'leave', type: 'exit' }] });
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() }));
    await until('the end', id, ({ status }) => status === 'exited');
    const other = await aFlow({ trigger: { type: 'manual' }, steps: [WAIT] });
    ok(await service.live.post(`/v1/flows/${other}/runs`, { contactId: await aContact() }));
    const late = { now: () => Date.now() + 100 * DAY, monotonic: () => performance.now() };
    await runPruner({ database, clock: late, config: LONGEST_RETENTION }).run();
    const counts = { entered: 0, waiting: 0, exited: 0, steps: [] };
    expect(ok(await service.live.get(`/v1/flows/${flow}`)).stats).toMatchObject(counts);
    // A live run that still waits stays, however old it is.
    expect(ok(await service.live.get(`/v1/flows/${other}`)).stats).toMatchObject({ entered: 1, waiting: 1 });
    expect((await auditOf(world())).named).toEqual([]);
  });

  test('a simulation is left off after two hundred steps, fifty mails, eight million characters or five seconds', async () => {
    const { service, ok, templateId } = world();
    const chain = (count: number): Pick<FlowDefinition, 'steps' | 'edges'> => ({
      steps: Array.from({ length: count }, (_, n) => ({
        key: `mail${n}`,
        type: 'sendEmail' as const,
        config: { templateId },
      })),
      edges: Array.from({ length: count - 1 }, (_, n) => ({
        from: `mail${n}`,
        to: `mail${n + 1}`,
        when: 'default',
      })),
    });
    const contact = { email: 'somebody@example.com' };
    const [most, more] = await Promise.all(
      [MOST_MAILS, MOST_MAILS + 1].map(
        async (count): Promise<string> =>
          ok(await service.live.post('/v1/flows', { name: 'Long', ...chain(count) })).id,
      ),
    );
    const walk = async (id: string | undefined, length: number, second: () => number): Promise<Any> => {
      const filled = { subject: 'S', html: 'x'.repeat(length), text: '', from: null, replyTo: null };
      const simulator = {
        ...partsOf(world()),
        publicUrl: '',
        problemOfUrl: async () => null,
        fillTemplate: async () => ({ templateId, version: 1, ...filled }),
        clock: { monotonic: second },
      };
      const { endedAs, path } = (await simulateFlow(
        simulator as Any,
        await callOf(id ?? '', { contact }),
      )) as Any;
      return [endedAs, path.length];
    };
    const still = () => 0;
    expect(await walk(most, 10, still)).toEqual(['completed', MOST_MAILS]);
    expect(await walk(more, 10, still)).toEqual(['unfinished', MOST_MAILS]);
    expect(await walk(most, MOST_MAIL_LENGTH / 10, still)).toEqual(['unfinished', 10]);
    const round = {
      steps: [WAIT, { ...WAIT, key: 'again' }],
      edges: [
        { from: WAIT.key, to: 'again' },
        { from: 'again', to: WAIT.key },
      ],
    };
    const { id } = ok(await service.live.post('/v1/flows', { name: 'Round', ...round }));
    expect(await walk(id, 10, still)).toEqual(['unfinished', MOST_WALKED]);
    let at = 0;
    expect(await walk(most, 10, () => 1_000 * at++)).toEqual(['unfinished', 4]);
  });

  test('what no version or moment can be is refused in words', async () => {
    const { service, ok } = world();
    const { id } = ok(await service.live.post('/v1/flows', { name: 'Odd', steps: [WAIT] }));
    const pathsOf = ({ status, body }: Any) => [
      status,
      ...(body.error.details ?? []).map(({ path }: Any) => path),
    ];
    const version = (text: string) => service.live.get(`/v1/flows/${id}/runs?version=${text}`);
    expect((await version('999999999')).status).toBe(200);
    expect(pathsOf(await version('1000000000'))).toEqual([422, '/query/version']);
    const contact = { email: 'somebody@example.com' };
    const simulate = (more: object) => service.live.post(`/v1/flows/${id}/simulate`, { contact, ...more });
    expect(ok(await simulate({ startAt: '2099-12-31T00:00:00Z' })).endedAs).toBe('completed');
    for (const startAt of ['2100-01-01T00:00:00Z', '1999-12-31T23:59:59Z'])
      expect(pathsOf(await simulate({ startAt }))).toEqual([422, '/body/startAt']);
    const after = { amount: 600_000, unit: 'weeks' };
    const events = [
      { name: 'go', after: { amount: 1, unit: 'days' } },
      { name: 'go', after },
    ];
    expect(pathsOf(await simulate({ events }))).toEqual([422, '/body/events/1/after']);
    const both = { ...contact, id: `con_${'0'.repeat(24)}` };
    expect(pathsOf(await simulate({ contact: both }))).toEqual([422, '/body/contact']);
  });

  test('the live view draws the machine of the version that a run began with', async () => {
    const { service, ok, aFlow, aContact, until } = world();
    const mark = { key: 'mark', type: 'updateContact', config: { firstName: 'Marked' } };
    const flow = await aFlow({
      trigger: { type: 'manual' },
      steps: [mark, WAIT],
      edges: [{ from: 'mark', to: 'wait' }],
    });
    const start = async () =>
      ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId: await aContact() })).id;
    const runs = [await start(), await start()];
    for (const id of runs) await until('the delay', id, ({ currentStep }) => currentStep === 'wait');
    ok(
      await service.live.patch(`/v1/flows/${flow}`, {
        steps: [{ ...mark, key: 'later' }],
        entry: 'later',
        edges: [],
      }),
    );
    ok(await service.live.post(`/v1/flows/${flow}/activate`));
    await start();
    const cookie = (await sessionCookie(service.url, { key: service.keys.live })) ?? '';
    const answer = await fetch(`${service.url}/inspector/api/actors/${runs[0]}`, { headers: { cookie } });
    const { data } = (await answer.json()) as { data: ActorLife };
    expect(data.state).toBe('wait');
    expect(data.explanation.summary).toBe('Waits for a while.');
    const { machine } = data;
    expect(machine?.drawing.states.map(({ name }) => name)).toEqual([
      'begun',
      'mark',
      'wait',
      'postponed',
      'held',
      'completed',
      'exited',
      'failed',
      'cancelled',
    ]);
    expect(machine?.counts.wait).toEqual({ count: 2, exact: true });
    expect(machine?.counts.mark).toEqual({ count: 0, exact: true });
    expect(machine?.layout.lines.map(({ id }) => id)).toContain('mark → wait');
    // The states of a version can be listed, though the drawn example has none of that name.
    const listed = await fetch(`${service.url}/inspector/api/actors?kind=flowRun&state=wait`, {
      headers: { cookie },
    });
    const ids = ((await listed.json()) as { data: { actors: { id: string }[] } }).data.actors.map(
      ({ id }) => id,
    );
    expect(ids).toEqual(expect.arrayContaining(runs));
  });
});
