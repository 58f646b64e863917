import { Type } from '@sinclair/typebox';
import { answeredOnce } from '../../http/request/idempotent.ts';
import { type Route, route } from '../../http/request/route.ts';
import { CONTACT_FIELD_NAMES } from '../../platform/text/contact-fields.ts';
import {
  activateFlow,
  createFlow,
  deleteFlow,
  type FlowCommands,
  patchFlow,
  pauseFlow,
  validateFlow,
} from './commands.ts';
import {
  ActivateBody,
  DeleteQuery,
  Flow,
  FlowQuery,
  FlowVersion,
  NewFlow,
  PatchFlow,
  PauseBody,
  Validation,
  VersionQuery,
} from './definition/model.ts';
import { LARGEST_DEFINITION } from './definition/read-definition.ts';
import { FLOW, VERSION } from './examples.ts';
import { flowDetail, listFlows, listVersions, versionDetail } from './queries.ts';
import { type RunDeps, runRoutes } from './runs/run-routes.ts';

const FLOW_ID = { prefix: 'flw', resource: 'flow' } as const;
const TEXTS = CONTACT_FIELD_NAMES.map((name) => `${name}?`).join(', ');
const STEPS = `Settings of steps: sendEmail \`{templateId, variables?, from?, subject?}\`, delay \`{amount, unit}\`, delayUntil \`{at}\` or \`{time, weekdays?, timeZone?}\`, condition \`{filter}\`, branch \`{branches: [{key, filter}]}\`, waitForEvent \`{name, filter?, timeout}\`, updateContact \`{${TEXTS}, properties?}\`, addToAudience and removeFromAudience \`{audienceId}\`, webhook \`{url}\`, exit \`{reason?}\`. A step without an edge ends the run.`;

export type FlowDeps = FlowCommands & RunDeps;

export const flowRoutes = (deps: FlowDeps): readonly Route[] => [
  route('POST /v1/flows', {
    name: 'createFlow',
    audit: { action: 'flow.created' },
    permission: 'campaigns:write',
    summary: 'Create a flow',
    description: `It starts as a draft, which may be incomplete, and has at most ${LARGEST_DEFINITION} characters as JSON. ${STEPS}`,
    body: NewFlow,
    response: Flow,
    status: 201,
    failures: ['CONFLICT'],
    example: { body: { name: 'Welcome' }, response: FLOW },
    handle: (call) => createFlow(deps, call),
  }),
  route('GET /v1/flows', {
    name: 'listFlows',
    permission: 'campaigns:read',
    summary: 'List flows',
    description:
      'Newest first. Each has its last written version, which may differ from the version that runs.',
    query: FlowQuery,
    response: Type.Array(Flow),
    example: { response: [{ ...FLOW, stats: null }] },
    handle: (call) => listFlows(deps, call),
  }),
  ...runRoutes(deps),
  route('GET /v1/flows/:id', {
    name: 'getFlow',
    permission: 'campaigns:read',
    summary: 'Get a flow with the counts of its steps',
    description:
      'The steps and edges of the last written version, with the numbers of runs that are in each step and have been through it.',
    params: { id: FLOW_ID },
    response: Flow,
    example: { response: FLOW },
    handle: (call) => flowDetail(deps, call),
  }),
  route('PATCH /v1/flows/:id', {
    name: 'updateFlow',
    audit: { action: 'flow.changed' },
    permission: 'campaigns:write',
    summary: 'Change a flow',
    description: `While a version runs, changes are a draft beside it until you activate the flow. ${STEPS}`,
    params: { id: FLOW_ID },
    body: PatchFlow,
    response: Flow,
    failures: ['CONFLICT'],
    example: { body: { name: 'Welcome' }, response: FLOW },
    handle: (call) => patchFlow(deps, call),
  }),
  route('DELETE /v1/flows/:id', {
    name: 'deleteFlow',
    audit: { action: 'flow.deleted' },
    permission: 'campaigns:write',
    summary: 'Delete a flow',
    description: 'Open runs prevent the deletion, unless they are cancelled.',
    params: { id: FLOW_ID },
    query: DeleteQuery,
    failures: ['CONFLICT'],
    handle: (call) => deleteFlow(deps, call),
  }),
  route('POST /v1/flows/:id/validate', {
    name: 'validateFlow',
    permission: 'campaigns:write',
    summary: 'Validate a flow',
    description:
      'Returns all problems at once: unreachable steps, loops without a wait, missing edges, templates that do not exist, senders at domains that are not verified. It changes nothing.',
    params: { id: FLOW_ID },
    response: Validation,
    example: {
      response: { valid: false, problems: [{ path: '/steps/2', message: 'The edge for "met" is missing.' }] },
    },
    handle: (call) => answeredOnce(deps.database, call, () => validateFlow(deps, call)),
  }),
  route('POST /v1/flows/:id/activate', {
    name: 'activateFlow',
    audit: { action: 'flow.activated' },
    permission: 'campaigns:write',
    testMode: 'members',
    summary: 'Activate a flow',
    description:
      'Publishes the last written version. Earlier activity begins no run. Runs under way keep their version. Held runs continue: events that came meanwhile count, and steps that fell due are done now.',
    params: { id: FLOW_ID },
    body: ActivateBody,
    response: Flow,
    failures: ['CONFLICT', 'VALIDATION_ERROR'],
    example: { body: {}, response: FLOW },
    handle: (call) => activateFlow(deps, call),
  }),
  route('POST /v1/flows/:id/pause', {
    name: 'pauseFlow',
    audit: { action: 'flow.paused' },
    permission: 'campaigns:write',
    summary: 'Pause a flow',
    description:
      'The flow begins no more runs. Pausing a paused flow again changes what happens to its open runs.',
    params: { id: FLOW_ID },
    body: PauseBody,
    response: Flow,
    failures: ['CONFLICT'],
    example: { body: { runs: 'hold' }, response: { ...FLOW, status: 'paused' } },
    handle: (call) => pauseFlow(deps, call),
  }),
  route('GET /v1/flows/:id/versions', {
    name: 'listFlowVersions',
    permission: 'campaigns:read',
    summary: 'List the versions of a flow',
    description:
      'Newest first. An activated version never changes; runs keep the version that they began with.',
    params: { id: FLOW_ID },
    query: VersionQuery,
    response: Type.Array(FlowVersion),
    example: { response: [VERSION] },
    handle: (call) => listVersions(deps, call),
  }),
  route('GET /v1/flows/:id/versions/:version', {
    name: 'getFlowVersion',
    permission: 'campaigns:read',
    summary: 'Get a version of a flow',
    description: 'The steps and edges of that version, which never changes after its activation.',
    params: { id: FLOW_ID, version: { text: 'The number of the version.' } },
    response: FlowVersion,
    example: { response: VERSION },
    handle: (call) => versionDetail(deps, call),
  }),
];
