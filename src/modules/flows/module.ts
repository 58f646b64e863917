import { compileFlow } from '../../../machines/flow-run.ts';
import { FairQueue } from '../../async/fair-slots.ts';
import type { Database } from '../../db/database.ts';
import type { MachineOf } from '../../engine/definitions.ts';
import type { TimersSay } from '../../engine/running-kind.ts';
import { defineModule, offered } from '../module.ts';
import { auditRuns } from './audit-runs.ts';
import { flowBirths } from './births.ts';
import { clockedActivity } from './clocked-activity.ts';
import { clockedDates } from './clocked-dates.ts';
import { clockedRuns } from './clocked-runs.ts';
import { enroller } from './enrol.ts';
import { Follower } from './follower.ts';
import { flowRunKind } from './kind.ts';
import { Laggards } from './laggards.ts';
import { flowPerformer, POSTING } from './performer.ts';
import { type FlowDeps, flowRoutes } from './routes.ts';
import { definitionReader } from './run-reader.ts';
import { cancelRuns, releaseRuns, runPruner, runSettler } from './settle.ts';
import type { StepWorkDeps } from './steps.ts';
import { heldFlows, readDefinitionId } from './store.ts';
import { stepTaker } from './take-step.ts';
import { flowTallyAccountant } from './tallies.ts';

/** The machine of each version, by the name that runs know it by. */
const compiledVersions = (database: Database): MachineOf => {
  const definitionOf = definitionReader(database);
  return async (id) => {
    const definition = await definitionOf(id);
    return definition && compileFlow(definition);
  };
};

/** A timer tells a run that its flow is held: what falls due meanwhile leads on when the flow does. */
const heldVersions =
  (database: Database): TimersSay =>
  async (ids) => {
    const flowOf = (id: string): string => readDefinitionId(id)?.flowId ?? '';
    const held = await heldFlows(database, ids.map(flowOf));
    return new Map(ids.filter((id) => held.has(flowOf(id))).map((id) => [id, { isHeld: true }]));
  };

/** A request does not wait longer until all runs have been cancelled. */
const WAITED_FOR_MS = 3_000;

/** Automations: what happens to a contact, step by step, and every run of it. */
export const flowsModule = defineModule<FlowDeps>({
  name: 'flows',
  tags: [
    {
      segment: 'flows',
      name: 'Flows',
      description: 'What happens to a contact, step by step: by what it does, and when its time has come.',
    },
  ],
  kinds: [
    {
      kind: flowRunKind,
      permission: 'campaigns:read',
      resource: 'flows',
      audit: auditRuns,
      label: { title: '(select f.name from flows f where f.id = a.flow_id)', facts: 'array[a.step]' },
      definitions: {
        machineOf: compiledVersions,
        where: `a.flow_id = split_part($1, ':', 1) and a.flow_version = split_part($1, ':', 2)::integer`,
      },
    },
  ],
  births: [flowBirths],
  templateUses: [
    {
      what: 'an active flow',
      where: (
        id,
      ) => `exists (select from flows f join flow_versions v on v.flow_id = f.id and v.version = f.published_version
        cross join json_array_elements(v.definition -> 'steps') s join templates u on u.id = ${id}
        where f.status = 'active' and f.deleted_at is null and f.workspace_id = u.workspace_id and f.livemode = u.livemode
          and s ->> 'type' = 'sendEmail' and s -> 'config' ->> 'templateId' in (u.id, u.alias))`,
    },
  ],
  audienceUses: [
    {
      what: 'an active flow',
      suggestion: 'Pause the flow, or activate a version of it without the audience first.',
      // Its trigger, its filters and its steps may name it, each in its own place.
      where: `exists (select from flows f join flow_versions v on v.flow_id = f.id and v.version = f.published_version
        where f.status = 'active' and f.deleted_at is null and f.workspace_id = a.workspace_id and f.livemode = a.livemode
          and strpos(v.definition::text, a.id) > 0)`,
    },
  ],
  routes: flowRoutes,
  open({ config, database, reads, clock, sealer, signer, logger }) {
    const work: { -readonly [Name in 'acceptance' | 'posting']?: StepWorkDeps[Name] } = {};
    const connected = <Name extends 'acceptance' | 'posting'>(name: Name): StepWorkDeps[Name] => {
      const found = work[name];
      if (!found) throw new Error('The module is not connected yet.');
      return found;
    };
    const steps: StepWorkDeps = {
      ...{ database, clock, sealer, signer, publicUrl: config.publicUrl },
      tellsSes: config.transport.includes('ses'),
      acceptance: () => connected('acceptance')(),
      posting: () => connected('posting')(),
    };
    const posts = new FairQueue(POSTING);
    return {
      registrations: [
        {
          ...{ kind: flowRunKind, performer: flowPerformer(steps, posts) },
          ...{ machineOf: compiledVersions(database), timersSay: heldVersions(database) },
        },
      ],
      connect({ engine, offers }) {
        const testClocks = () => offers.testClocks;
        const [acceptance, posting] = [offered(offers, 'acceptance'), offered(offers, 'posting')];
        work.acceptance = () => acceptance;
        work.posting = () => posting;
        const deps = { database, engine, clock, testClocks };
        const enrol = enroller(deps);
        const following = { ...deps, enrol, logger, testClocks };
        const follower = new Follower(following);
        const behind = new Laggards(following);
        offers.clockedActivity = clockedActivity(following);
        offers.clockedDates = clockedDates(following);
        offers.clockedRuns = clockedRuns({ ...deps, takeStep: stepTaker(steps), posts });
        return {
          deps: {
            ...{ ...deps, reads, enrol, testClocks, sealer, publicUrl: config.publicUrl },
            fillTemplate: acceptance.fillTemplate,
            problemOfUrl: (url) => posting.problemOfUrl(url),
            release: (flowId) => releaseRuns(deps, flowId),
            cancelRuns: (flowId) => cancelRuns(deps, flowId, AbortSignal.timeout(WAITED_FOR_MS)),
          },
          noteChange: (noted) => follower.note(noted),
          duties: [
            follower.duty,
            behind.duty,
            runSettler(deps),
            runPruner({ ...deps, config }),
            flowTallyAccountant(deps),
          ],
        };
      },
    };
  },
});
