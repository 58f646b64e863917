import { type Static, Type } from '@sinclair/typebox';

const TYPE = '(sent|delivered|opened|clicked|bounced|complained|unsubscribed)';

/** Query of GET /v1/events. */
export const EventQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'The `nextCursor` of the previous reply, with the same `types`; without it the log is read from the oldest event.',
    }),
  ),
  from: Type.Optional(
    Type.Literal('end', {
      description:
        'True for an empty page whose `nextCursor` is the end of the log, to read only events from now on. Not with `after`.',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Events a page.' }),
  types: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${TYPE}(,${TYPE})*$`,
      description: 'Only these types, separated by commas.',
      examples: ['delivered,bounced'],
    }),
  ),
});

/** The query of the log. */
export type EventQuery = Static<typeof EventQuery>;
