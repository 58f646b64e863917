import { type Static, Type } from '@sinclair/typebox';

const TYPE = '(sent|delivered|opened|clicked|bounced|complained|unsubscribed)';

/** Query of GET /v1/events. */
export const EventQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'The `nextCursor` of the reply before, with the same `types`; from the oldest event when left out.',
    }),
  ),
  from: Type.Optional(
    Type.Literal('end', {
      description:
        'An empty page whose `nextCursor` stands at the end of the log: for those who want what happens from now on. Not with `after`.',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Events a page.' }),
  types: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: `^${TYPE}(,${TYPE})*$`,
      description: 'Only these types, with commas between.',
      examples: ['delivered,bounced'],
    }),
  ),
});

/** The query of the log. */
export type EventQuery = Static<typeof EventQuery>;
