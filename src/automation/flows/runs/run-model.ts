import { type Static, Type } from '@sinclair/typebox';
import { createdQuery, sortQuery } from '../../../http/lists/list.ts';
import { pageQuery } from '../../../http/lists/pagination.ts';
import { literals } from '../../../http/request/schema.ts';

const Moment = Type.String({ format: 'date-time' });
const MomentOrNull = Type.Union([Moment, Type.Null()]);
const TextOrNull = Type.Union([Type.String(), Type.Null()]);
export const RUN_STATUSES = ['running', 'waiting', 'completed', 'exited', 'failed', 'cancelled'] as const;

const members = {
  id: Type.String({ examples: ['run_01m7xj1rwzprnwr10308attx'] }),
  livemode: Type.Boolean(),
  flowId: Type.String(),
  flowVersion: Type.Integer({ description: 'The version with which it began, and which it keeps.' }),
  contactId: Type.String(),
  status: literals(RUN_STATUSES),
  currentStep: Type.Union([Type.String(), Type.Null()], {
    description: 'The key of its present or last step.',
  }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'The reason why it exited or failed.' }),
  wakesAt: Type.Union([Moment, Type.Null()], {
    description: 'The end of its wait; null when it does not wait for a time.',
  }),
  startedAt: Moment,
  endedAt: MomentOrNull,
  testClockId: Type.Union([Type.String(), Type.Null()], {
    description: 'The test clock of the run, which gives all its times; null for real time.',
  }),
};

/** A run in a list. */
export const FlowRunItem = Type.Object(members, { title: 'FlowRunItem' });
export type FlowRunItemView = Static<typeof FlowRunItem>;

/** A run with the outcomes of its steps. */
export const FlowRun = Type.Object(
  {
    ...members,
    log: Type.Array(
      Type.Object({ step: Type.String(), at: Moment, outcome: Type.String(), emailId: TextOrNull }),
      { description: 'The outcomes of its steps, in order; the last 1,000.' },
    ),
  },
  { title: 'FlowRun' },
);
export type FlowRunView = Static<typeof FlowRun>;

export const RunQuery = Type.Object({
  ...pageQuery,
  ...createdQuery,
  ...sortQuery(),
  status: Type.Optional(literals(RUN_STATUSES)),
  contactId: Type.Optional(Type.String({ maxLength: 40 })),
  step: Type.Optional(Type.String({ maxLength: 64, description: 'Only runs at this step.' })),
  version: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999 })),
});
export type RunQuery = Static<typeof RunQuery>;

/** The body of POST /v1/flows/{id}/runs. */
export const StartRun = Type.Object({ contactId: Type.String({ maxLength: 40 }) }, { title: 'StartFlowRun' });
export type StartRun = Static<typeof StartRun>;
