import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../../http/if-updated-at.ts';
import { sortQuery } from '../../../http/lists/list.ts';
import { pageQuery } from '../../../http/lists/pagination.ts';
import { literals } from '../../../http/request/schema.ts';
import { nameSchema } from '../../../platform/errors/text-length.ts';
import { draftFilterMember } from '../../../platform/filters/schema.ts';
import { EVENT_NAME, KEY, STEP_TYPES, TimeOfDay } from './step-configs.ts';

/** The most steps and edges of a flow. */
export const MOST_STEPS = 100;
export const MOST_EDGES = 200;
/** The most flows of one environment. */
export const MOST_FLOWS = 500;

const nullable = <Schema extends TSchema>(schema: Schema, options: object = {}) =>
  Type.Union([schema, Type.Null()], options);
const Moment = Type.String({ format: 'date-time' });
const Name = nameSchema({ examples: ['Welcome'] });
const Dictionary = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: Type.Unknown(), description }),
  );

const Trigger = Type.Object(
  {
    type: literals(
      ['contactCreated', 'audienceJoined', 'audienceLeft', 'event', 'replied', 'dateProperty', 'manual'],
      {
        description:
          'The occurrence that begins a run; `replied`: the contact answers an email, see received mail.',
      },
    ),
    audienceId: Type.Optional(
      Type.String({ description: 'For `audienceJoined` and `audienceLeft`: the audience.' }),
    ),
    name: Type.Optional(
      Type.String({ pattern: EVENT_NAME, description: 'For `event`: the name of a custom event.' }),
    ),
    property: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$',
        description:
          'For `dateProperty`: the property with the date. 29 February counts as the 28th in other years.',
      }),
    ),
    offsetDays: Type.Optional(
      Type.Integer({
        minimum: -365,
        maximum: 365,
        description: 'For `dateProperty`: the number of days after or before the date.',
      }),
    ),
    time: Type.Optional(TimeOfDay),
    repeat: Type.Optional(literals(['yearly', 'once'], { description: 'Of `dateProperty`.' })),
    filter: Type.Optional(
      draftFilterMember({ description: 'Only contacts that it matches. It may use `event.<property>`.' }),
    ),
  },
  { description: 'The trigger. The settings of its type are beside `type`.' },
);

const QuietHours = Type.Object(
  {
    from: TimeOfDay,
    to: TimeOfDay,
    timeZone: Type.Optional(
      nullable(Type.String({ maxLength: 64 }), {
        description:
          "Null for the time zone of the contact (`properties.timeZone`, or else the workspace's).",
      }),
    ),
  },
  { description: 'Hours without email, which may go over midnight: emails wait for their end.' },
);

const Step = Type.Object({
  key: Type.String({
    pattern: KEY,
    description: 'The name of the step in edges and runs.',
    examples: ['welcome'],
  }),
  type: literals(STEP_TYPES),
  config: Type.Optional(Dictionary('The settings of its type.')),
});

const Edge = Type.Object({
  from: Type.String({ maxLength: 64 }),
  to: Type.String({ maxLength: 64 }),
  when: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        '`default`, unless the step is a condition (`met` and `notMet`), a waitForEvent (`event` and `timeout`) or a branch (the keys of its branches).',
    }),
  ),
});

const definition = {
  trigger: Trigger,
  entry: nullable(Type.String({ maxLength: 64 }), { description: 'The key of the first step.' }),
  reentry: literals(['never', 'afterExit'], {
    description:
      'True when a contact may enter again after its run has ended. A contact never has two open runs of a flow.',
  }),
  exitWhen: nullable(draftFilterMember(), {
    description:
      'A filter that ends a run when it matches. It is checked before each step with an action, and at each activity of the contact.',
  }),
  quietHours: nullable(QuietHours),
  steps: Type.Array(Step, { maxItems: MOST_STEPS }),
  edges: Type.Array(Edge, { maxItems: MOST_EDGES }),
};

const DefinitionBody = Type.Partial(Type.Object(definition));
/** The parts of a flow that requests write. */
export type DefinitionBody = Static<typeof DefinitionBody>;

/** The body of POST /v1/flows. */
export const NewFlow = Type.Composite([Type.Object({ name: Name }), DefinitionBody], { title: 'CreateFlow' });
export type NewFlow = Static<typeof NewFlow>;

/** The body of PATCH /v1/flows/{id}. */
export const PatchFlow = Type.Composite(
  [Type.Object({ name: Type.Optional(Name), ifUpdatedAt: IfUpdatedAt }), DefinitionBody],
  { title: 'UpdateFlow' },
);
export type PatchFlow = Static<typeof PatchFlow>;

const Version = Type.Integer({
  description: 'The number of the last written version. An active flow runs its published version.',
});
const StepStats = Type.Object({
  step: Type.String(),
  outcome: Type.String({ description: '`sent`, `skipped: unsubscribed`, `waited`, `met`, …' }),
  count: Type.Integer(),
});

const FlowStats = Type.Object(
  {
    entered: Type.Integer({ description: 'The number of stored runs, the sum of the numbers below.' }),
    running: Type.Integer(),
    waiting: Type.Integer(),
    completed: Type.Integer(),
    exited: Type.Integer(),
    failed: Type.Integer(),
    cancelled: Type.Integer(),
    steps: Type.Array(StepStats, { description: 'The outcomes of each step, with their numbers.' }),
  },
  { title: 'FlowStats' },
);

const flow = {
  id: Type.String({ examples: ['flw_01m7xj1rwzprnwr10308attx'] }),
  livemode: Type.Boolean({ description: 'False for a flow of the test environment.' }),
  name: Name,
  status: literals(['draft', 'active', 'paused']),
  ...definition,
  version: Version,
  publishedVersion: nullable(Type.Integer(), {
    description: 'The version of new runs; null before the first activation.',
  }),
};
const times = { createdAt: Moment, updatedAt: Moment };

export const Flow = Type.Object(
  {
    ...flow,
    stats: nullable(FlowStats, { description: 'Null in a list.' }),
    behindSince: nullable(Moment, {
      description:
        'The time of the next activity that flows of this workspace have yet to process, because of a slow filter; null while they are on time.',
    }),
    ...times,
  },
  { title: 'Flow' },
);
export type FlowView = Static<typeof Flow>;

export const FlowQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(literals(['draft', 'active', 'paused'])),
  ...sortQuery(),
});
export type FlowQuery = Static<typeof FlowQuery>;

export const FlowVersion = Type.Object(
  { version: Type.Integer(), ...definition, createdAt: Moment, publishedAt: nullable(Moment) },
  { title: 'FlowVersion' },
);
export type FlowVersionView = Static<typeof FlowVersion>;

export const VersionQuery = Type.Object({ ...pageQuery });
export type VersionQuery = Static<typeof VersionQuery>;

/** The result of a validation. */
export const Validation = Type.Object(
  {
    valid: Type.Boolean(),
    problems: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'All problems, each with its place in the flow.',
    }),
  },
  { title: 'FlowValidation' },
);
export type ValidationView = Static<typeof Validation>;

/** The body of POST /v1/flows/{id}/activate, which may be empty. */
export const ActivateBody = Type.Object({ ifUpdatedAt: IfUpdatedAt }, { title: 'ActivateFlow' });
export type ActivateBody = Static<typeof ActivateBody>;

/** The body of POST /v1/flows/{id}/pause. */
export const PauseBody = Type.Object(
  {
    runs: Type.Optional(
      literals(['finish', 'hold', 'cancel'], {
        description:
          'The fate of open runs: they continue to their end (the default), are held until the flow is activated again, or are cancelled. Held runs do no steps and do not end; a wait that falls due ends when the flow is activated, and events that come meanwhile count.',
      }),
    ),
  },
  { title: 'PauseFlow' },
);
export type PauseBody = Static<typeof PauseBody>;

/** The query of DELETE /v1/flows/{id}. */
export const DeleteQuery = Type.Object({
  runs: Type.Optional(
    literals(['cancel'], { description: 'Cancels open runs, which otherwise prevent the deletion.' }),
  ),
});
export type DeleteQuery = Static<typeof DeleteQuery>;
