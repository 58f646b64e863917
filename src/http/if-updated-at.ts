import { Type } from '@sinclair/typebox';
import { Failure } from '../platform/errors/failure.ts';

// One precondition for everything that several members edit: a change, or a start, of what the client has
// seen and of nothing else.

/** The member of a request's body that states it. */
export const IfUpdatedAt = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'The `updatedAt` that you have read. If the resource has changed since, nothing is done and the answer is 409 CONFLICT; without this field, the last change wins.',
    examples: ['2026-11-21T09:30:00.000Z'],
  }),
);

/** A body that may state it. */
export interface ConditionalBody {
  readonly ifUpdatedAt?: string | undefined;
}

/** The 409 of a resource that was changed since it was read. `resource` is a noun, such as `campaign`. */
export const changedSince = (resource: string): Failure =>
  new Failure('CONFLICT', `The ${resource} has changed since you read it.`, {
    suggestion: 'Read it again, and send your changes with its current `updatedAt`.',
  });

/** True when the body states another moment than the one of the resource (epoch milliseconds). */
export const isOutdated = ({ ifUpdatedAt }: ConditionalBody, updatedAt: number): boolean =>
  ifUpdatedAt !== undefined && Date.parse(ifUpdatedAt) !== updatedAt;

/** The moment that the body states, as a parameter of a statement; null for any. */
export const statedMoment = ({ ifUpdatedAt }: ConditionalBody): string | null =>
  ifUpdatedAt === undefined ? null : new Date(Date.parse(ifUpdatedAt)).toISOString();

/** SQL: true when a column of moments is what a parameter states. Clients see milliseconds. */
export const isStatedSql = (column: string, parameter: string): string =>
  `(${parameter}::timestamptz is null or date_trunc('milliseconds', ${column}) = ${parameter}::timestamptz)`;

/**
 * SQL: the moment of a change. Each is later than the one before, also within a millisecond, and by a clock
 * that goes behind.
 */
export const laterSql = (column: string, now: string): string =>
  `greatest(${now}::timestamptz, date_trunc('milliseconds', ${column}) + interval '1 millisecond')`;
