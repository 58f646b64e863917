import { type Static, Type } from '@sinclair/typebox';
import { SUPPRESSION_REASONS } from '../../../machines/email/rules.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';

const Reason = literals(SUPPRESSION_REASONS, {
  description:
    'Why it gets no mail. Who unsubscribed gets none that offers a way to unsubscribe, by `{{unsubscribeUrl}}` or a List-Unsubscribe header, and still every other one: a receipt, a new password. All others get none at all.',
});

/** An address that gets no more live mail. */
export const Suppression = Type.Object(
  {
    address: Type.Union([Type.String(), Type.Null()], {
      description:
        'As it was first written to; null for a person who was forgotten, and is known by a keyed hash.',
      examples: ['ada@example.com'],
    }),
    reason: Reason,
    emailId: Type.Union([Type.String(), Type.Null()], {
      description: 'The email that led to it; null where somebody entered it by hand.',
    }),
    createdAt: Type.String({ format: 'date-time', description: 'Since when.' }),
  },
  { title: 'Suppression' },
);

/** A suppression as it is answered. */
export type SuppressionView = Static<typeof Suppression>;

/** The body that suppresses an address by hand. */
export const SuppressBody = Type.Object(
  {
    address: Type.String({ minLength: 3, maxLength: 320, description: 'The address, without a name.' }),
    reason: Type.Optional(
      literals(['manual', 'unsubscribed'], {
        description:
          '`manual` unless stated, which stops all mail; `unsubscribed` stops what can be unsubscribed from.',
      }),
    ),
  },
  { title: 'CreateSuppression' },
);

/** The type of it. */
export type SuppressBody = Static<typeof SuppressBody>;

/** The filters of the list. */
export const SuppressionQuery = Type.Object({
  ...pageQuery,
  reason: Type.Optional(Reason),
  address: Type.Optional(Type.String({ maxLength: 320, description: 'One address, in any case.' })),
});

/** The type of those filters. */
export type SuppressionQuery = Static<typeof SuppressionQuery>;

/** The row of a suppression. */
export interface SuppressionRow {
  readonly address: string | null;
  readonly reason: string;
  readonly email_id: string | null;
  /** Epoch milliseconds. */
  readonly created_at: number;
}

/** A suppression as it is answered. */
export const viewOf = ({ address, reason, email_id, created_at }: SuppressionRow): SuppressionView => ({
  address,
  reason: reason as SuppressionView['reason'],
  emailId: email_id,
  createdAt: new Date(created_at).toISOString(),
});
