import { Type } from '@sinclair/typebox';
import { answeredOnce } from '../../../http/request/idempotent.ts';
import { type Route, route } from '../../../http/request/route.ts';
import { rotateFlowSecret, type SecretDeps } from '../definition/secret.ts';
import { RUN, RUNS } from '../examples.ts';
import { type Simulator, simulateFlow } from '../simulation/simulate.ts';
import { SimulateBody, Simulation } from '../simulation/simulation-model.ts';
import { FlowRun, FlowRunItem, RunQuery, StartRun } from './run-model.ts';
import { cancelRun, listRuns, type RunCommands, runDetail, startRun } from './runs.ts';

const FLOW_ID = { prefix: 'flw', resource: 'flow' } as const;
const RUN_ID = { prefix: 'run', resource: 'flow run' } as const;

export type RunDeps = RunCommands & SecretDeps & Simulator;

export const runRoutes = (deps: RunDeps): readonly Route[] => [
  route('POST /v1/flows/webhook-secret', {
    name: 'rotateFlowWebhookSecret',
    audit: { action: 'flow.secretRotated' },
    permission: 'campaigns:write',
    summary: 'Rotate the secret of webhook steps',
    description:
      'Only this reply shows the secret. Requests of webhook steps are signed like webhooks; the previous secret is invalid at once.',
    response: Type.Object({ secret: Type.String() }, { title: 'FlowWebhookSecret' }),
    example: { response: { secret: 'whsec_7vWm0n2b3kq9eYc1xZr8pTgH4uJd6sLa5fQoKiBxNwE' } },
    handle: (call) => rotateFlowSecret(deps, call),
  }),
  route('POST /v1/flows/:id/simulate', {
    name: 'simulateFlow',
    permission: 'campaigns:write',
    summary: 'Simulate a flow for a contact',
    description:
      'Walks a contact through the last written version in simulated time. It sends and changes nothing; emails are rendered as in a real run. Webhooks count as accepted.',
    params: { id: FLOW_ID },
    body: SimulateBody,
    response: Simulation,
    failures: ['VALIDATION_ERROR'],
    example: {
      body: { contact: { email: 'ada@example.com', firstName: 'Ada' } },
      response: {
        path: [
          {
            step: 'welcome',
            at: RUN.startedAt,
            outcome: 'sent',
            email: { subject: 'Hello Ada', html: '<p>Hello</p>', text: 'Hello' },
          },
        ],
        endedAs: 'completed',
        endsAt: RUN.startedAt,
      },
    },
    handle: (call) => answeredOnce(deps.database, call, () => simulateFlow(deps, call)),
  }),
  route('GET /v1/flows/:id/runs', {
    name: 'listFlowRuns',
    permission: 'campaigns:read',
    summary: 'List the runs of a flow',
    description:
      'Newest first, unless `sort` says otherwise. With a filter other than `contactId` one request searches at most 10,000 runs: a page may then have fewer than `limit` although more follow. A run keeps the version of the flow with which it began.',
    params: { id: FLOW_ID },
    query: RunQuery,
    response: Type.Array(FlowRunItem),
    example: { response: [...RUNS] },
    handle: (call) => listRuns(deps, call),
  }),
  route('POST /v1/flows/:id/runs', {
    name: 'startFlowRun',
    permission: 'campaigns:write',
    summary: 'Start a run manually',
    description: 'Starts a run of one contact through an active flow whose trigger is `manual`.',
    params: { id: FLOW_ID },
    body: StartRun,
    response: FlowRun,
    status: 201,
    headers: ['x-svc-test-clock'],
    failures: ['CONFLICT'],
    example: { body: { contactId: RUN.contactId }, response: RUN },
    handle: (call) => startRun(deps, call),
  }),
  route('GET /v1/flows/runs/:id', {
    name: 'getFlowRun',
    permission: 'campaigns:read',
    summary: 'Get a run with the outcomes of its steps',
    description: 'The steps in the order of the run, each with its time and its outcome.',
    params: { id: RUN_ID },
    response: FlowRun,
    example: { response: RUN },
    handle: (call) => runDetail(deps, call),
  }),
  route('DELETE /v1/flows/runs/:id', {
    name: 'cancelFlowRun',
    permission: 'campaigns:write',
    summary: 'Cancel a run',
    description: 'The run takes no further step. Emails that it has sent are not affected.',
    params: { id: RUN_ID },
    failures: ['CONFLICT'],
    handle: (call) => cancelRun(deps, call),
  }),
];
