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
