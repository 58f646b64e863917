import { expect, test } from 'bun:test';
import { pauseFlow } from '../../src/automation/flows/commands.ts';
import { startRun } from '../../src/automation/flows/runs/runs.ts';
import { enroller } from '../../src/automation/flows/triggers/enrol.ts';
import { cancelRuns } from '../../src/automation/flows/triggers/settle.ts';
import { type FlowWorld, inEachWorld } from '../support/flow-world.ts';

// After the answer that a flow is paused no run of it begins, and after the one that its runs are cancelled
// none goes on.

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;
const WAIT = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } } as const;

const partsOf = ({ service }: FlowWorld) => {
  const { database, engine } = service.service;
  return { database, engine, clock: { now: () => Date.now(), monotonic: () => performance.now() } };
};

inEachWorld('a pause', (world) => {
  const scopeOf = async () => {
    const [row] = await partsOf(world()).database.query<{ id: string }>('select id from workspaces');
    return { workspaceId: row?.id ?? '', livemode: true };
  };
  /** A call as the pipeline makes it, for a command that is asked directly. */
  const callOf = async (id: string, body: object): Promise<Any> => ({
    caller: await scopeOf(),
    params: { id },
    body,
    query: {},
    headers: new Headers(),
    now: Date.now(),
    claim: null,
    requestId: 'req_1',
  });

  test('what was read before a flow was paused begins no run after it', async () => {
    const { service, ok, aFlow, aContact, runsOf } = world();
    const flowId = await aFlow({ trigger: { type: 'manual' }, steps: [WAIT] });
    const contactId = await aContact();
    const enrol = enroller(partsOf(world()));
    const begin = async () =>
      enrol({ ...(await scopeOf()), flowId, version: 1 }, [
        { contactId, key: 'seen before', eventId: null, position: '1', depth: 0 },
      ]);
    ok(await service.live.post(`/v1/flows/${flowId}/pause`, {}));
    expect(await begin()).toEqual([]);
    expect(await runsOf(flowId)).toEqual([]);
    ok(await service.live.post(`/v1/flows/${flowId}/activate`));
    expect(await begin()).toHaveLength(1);
  });

  test('no run begins behind the answer that its flow is paused, or its runs are cancelled', async () => {
    const { service, ok, aFlow, aContact, runsOf } = world();
    for (const runs of ['cancel', 'finish'] as const) {
      const flowId = await aFlow({ trigger: { type: 'manual' }, steps: [WAIT] });
      const contactId = await aContact();
      const { engine, ...parts } = partsOf(world());
      // The answer comes between the look at the flow and the insert of the run.
      const spawn = async (...run: Parameters<typeof engine.spawn>) => {
        ok(await service.live.post(`/v1/flows/${flowId}/pause`, { runs }));
        return engine.spawn(...run);
      };
      const enrol = enroller({ ...parts, engine: { spawn } as Any });
      const begun = await enrol({ ...(await scopeOf()), flowId, version: 1 }, [
        { contactId, key: 'late', eventId: null, position: '1', depth: 0 },
      ]);
      expect([runs, begun, await runsOf(flowId)]).toEqual([runs, [], []]);
    }
  });

  test('the answer to a request for a run says that its flow was paused meanwhile', async () => {
    const { service, ok, aFlow, aContact } = world();
    const flowId = await aFlow({ trigger: { type: 'manual' }, steps: [WAIT] });
    const contactId = await aContact();
    const { engine, ...parts } = partsOf(world());
    const spawn = async (...run: Parameters<typeof engine.spawn>) => {
      ok(await service.live.post(`/v1/flows/${flowId}/pause`, {}));
      return engine.spawn(...run);
    };
    const commands = {
      ...parts,
      enrol: enroller({ ...parts, engine: { spawn } as Any }),
      testClocks: () => undefined,
    };
    const call = await callOf(flowId, { contactId });
    expect(await startRun(commands as Any, call)).toMatchObject({
      code: 'CONFLICT',
      message: 'This flow is not active.',
    });
  });

  test('a run that has begun while a request to cancel all was waiting is cancelled too', async () => {
    const { ok, aFlow, aContact, runsOf, service } = world();
    const flowId = await aFlow({ trigger: { type: 'manual' }, steps: [WAIT] });
    const call = await callOf(flowId, { runs: 'cancel' });
    const contactId = await aContact();
    const { id } = ok(await service.live.post(`/v1/flows/${flowId}/runs`, { contactId }));
    const parts = partsOf(world());
    const commands = {
      ...parts,
      // The clock of the instance that began the run is ahead of this one.
      clock: { now: () => Date.now() - 1_000 },
      release: async () => {},
      cancelRuns: (flow: string) => cancelRuns(parts, flow),
    };
    await pauseFlow(commands as Any, call);
    expect((await runsOf(flowId)).map((run: Any) => [run.id, run.status])).toEqual([[id, 'cancelled']]);
  });
});
