import { compileFlow } from '../../../machines/flow-run/machine.ts';
import type { AudienceUse } from '../../audience/audiences/commands.ts';
import type { MachineOf } from '../../engine/machine/definitions.ts';
import type { TimersSay } from '../../engine/runtime/running-kind.ts';
import type { Module } from '../../http/module.ts';
import { FairQueue } from '../../platform/async/fair-slots.ts';
import { later } from '../../platform/async/later.ts';
import type { Database } from '../../platform/db/database.ts';
import { rarely } from '../../platform/telemetry/rarely.ts';
import type { EmailsApi } from '../../sending/emails/api.ts';
import type { WebhooksApi } from '../../sending/webhooks/api.ts';
import type { TemplateUse } from '../templates/commands.ts';
import type { FlowsApi } from './api.ts';
import { clockedActivity } from './clocked/clocked-activity.ts';
import { clockedDates } from './clocked/clocked-dates.ts';
import { clockedRuns } from './clocked/clocked-runs.ts';
import { flowRunKind } from './kind.ts';
import { type FlowDeps, flowRoutes } from './routes.ts';
import { auditRuns } from './runs/audit-runs.ts';
import { flowInsertRule, runInsertRule } from './runs/insert-rule.ts';
import { flowPerformer, POSTING } from './runs/performer.ts';
import { definitionReader } from './runs/run-reader.ts';
import type { StepWorkDeps } from './runs/steps.ts';
import { stepTaker } from './runs/take-step.ts';
import { flowTallyAccountant } from './runs/tallies.ts';
import { heldFlows, readDefinitionId } from './store.ts';
import { enroller, MOST_BY_REPLIES } from './triggers/enrol.ts';
import { Follower } from './triggers/follower.ts';
import { Laggards } from './triggers/laggards.ts';
import { cancelRuns, endRunsOf, releaseRuns, runPruner, runSettler } from './triggers/settle.ts';

/** The machine of each version, by the name that runs know it by. */
const compiledVersions = (database: Database): MachineOf => {
  const definitionOf = definitionReader(database);
  return async (id) => {
    const definition = await definitionOf(id);
    return definition && compileFlow(definition);
  };
};

/**
 * A timer tells a run that its flow is held: steps that fall due meanwhile are done when the flow is
 * activated.
 */
const heldVersions =
  (database: Database): TimersSay =>
  async (ids) => {
    const flowOf = (id: string): string => readDefinitionId(id)?.flowId ?? '';
    const held = await heldFlows(database, ids.map(flowOf));
    return new Map(ids.filter((id) => held.has(flowOf(id))).map((id) => [id, { isHeld: true }]));
  };

/** A request does not wait longer until all runs have been cancelled. */
const WAITED_FOR_MS = 3_000;

/** The functions of other modules that flows need. */
type FlowNeeds = Pick<FlowDeps, 'testClocks'> & Pick<EmailsApi, 'acceptance'> & Pick<WebhooksApi, 'posting'>;

/**
 * The versions of an active flow that keep what they name from being deleted. `named`: the flows `f` and the
 * versions `v` of them that name it, from `from` on.
 */
const VERSIONS_IN_USE: readonly {
  readonly what: string;
  readonly isInUse: (named: string) => string;
  readonly suggestion: string;
}[] = [
  {
    what: 'an active flow',
    isInUse: (named) => `exists (select ${named} and v.version = f.published_version)`,
    suggestion: 'Pause the flow first, or activate a version without the audience.',
  },
  {
    what: 'runs of an earlier version of an active flow',
    // A run keeps its version. A flow may have a million runs, so they are looked at once for a flow that
    // names it, and for no other one: the group is a fence.
    isInUse: (named) => `exists (select from (
      select f.id, array_agg(v.version) as versions ${named} and v.version <> f.published_version group by f.id
    ) earlier where coalesce((select true from flow_runs r
      where r.flow_id = earlier.id and r.ended_at is null and r.flow_version = any(earlier.versions) limit 1), false))`,
    suggestion: 'Wait until these runs end, or pause the flow first.',
  },
];

/** An active flow keeps its templates from being deleted. */
export const flowUsesOfTemplates: readonly TemplateUse[] = VERSIONS_IN_USE.map(({ what, isInUse }) => ({
  what,
  where: (id) =>
    isInUse(`from flows f join flow_versions v on v.flow_id = f.id
    cross join json_array_elements(v.definition -> 'steps') s join templates u on u.id = ${id}
    where f.status = 'active' and f.deleted_at is null and f.workspace_id = u.workspace_id and f.livemode = u.livemode
      and s ->> 'type' = 'sendEmail' and s -> 'config' ->> 'templateId' in (u.id, u.alias)`),
}));

/** An active flow keeps its audiences from being deleted. */
export const flowUsesOfAudiences: readonly AudienceUse[] = VERSIONS_IN_USE.map(
  ({ what, isInUse, suggestion }) => ({
    what,
    suggestion,
    // Its trigger, its filters and its steps may name it, each in its own place.
    where: isInUse(`from flows f join flow_versions v on v.flow_id = f.id
    where f.status = 'active' and f.deleted_at is null and f.workspace_id = a.workspace_id and f.livemode = a.livemode
      and strpos(v.definition::text, a.id) > 0`),
  }),
);

/** Automations: steps for a contact, and every run of them. */
export const flowsModule: Module<FlowDeps, FlowNeeds, FlowsApi> = {
  name: 'flows',
  tags: [
    {
      segment: 'flows',
      name: 'Flows',
      description: 'Automations: steps for a contact that begin with an activity or on a date.',
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
  insertRules: [flowInsertRule, runInsertRule],
  routes: flowRoutes,
  open({ config, database, reads, clock, sealer, signer, logger, metrics }) {
    const { needed, provide } = later<FlowNeeds>();
    const steps: StepWorkDeps = {
      database,
      clock,
      sealer,
      signer,
      publicUrl: config.publicUrl,
      tellsSes: config.transport.includes('ses'),
      acceptance: () => needed().acceptance,
      posting: () => needed().posting,
    };
    const posts = new FairQueue(POSTING);
    return {
      registrations: [
        {
          kind: flowRunKind,
          performer: flowPerformer(steps, posts),
          machineOf: compiledVersions(database),
          timersSay: heldVersions(database),
        },
      ],
      connect({ engine }, needs) {
        provide(needs);
        const { testClocks, acceptance, posting } = needs;
        const deps = { database, engine, clock, testClocks };
        const warn = rarely(logger, clock.monotonic);
        const enrol = enroller({
          ...deps,
          tooMany(flowId, replies) {
            metrics?.runsWithheld(replies);
            warn(
              { flow: flowId, replies },
              `A contact has had ${MOST_BY_REPLIES} runs of a flow within a day, so that its replies begin no more: a program seems to answer the emails of the flow.`,
            );
          },
        });
        const following = { ...deps, enrol, logger, testClocks };
        const follower = new Follower(following);
        const behind = new Laggards(following);
        return {
          api: {
            endRunsOf: (contactId, stop) => endRunsOf(deps, contactId, stop),
            clockedActivity: clockedActivity(following),
            clockedDates: clockedDates(following),
            clockedRuns: clockedRuns({ ...deps, takeStep: stepTaker(steps), posts }),
          },
          deps: {
            ...deps,
            reads,
            enrol,
            testClocks,
            sealer,
            publicUrl: config.publicUrl,
            fillTemplate: acceptance.fillTemplate,
            problemOfUrl: (url) => posting.problemOfUrl(url),
            findSendingDomain: acceptance.findSendingDomain,
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
};
