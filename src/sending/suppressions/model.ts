import { type Static, Type } from '@sinclair/typebox';
import { SUPPRESSION_REASONS, type SuppressionReason } from '../../../machines/email/rules.ts';
import { sortQuery } from '../../http/lists/list.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';

const Reason = literals(SUPPRESSION_REASONS, {
  description:
    'The reason for the suppression. `unsubscribed` stops email with a way to unsubscribe, by `{{unsubscribeUrl}}` or a List-Unsubscribe header, but no other email, such as a receipt or a new password. Every other reason stops all email.',
});

/** Acts of the person. Removing another reason does not take them back. */
export const OWN_ACTS = ['complained', 'unsubscribed'] as const satisfies readonly SuppressionReason[];

/** An address that gets no more live mail. */
export const Suppression = Type.Object(
  {
    address: Type.Union([Type.String(), Type.Null()], {
      description:
        'The address as it was first written; null for a forgotten person, of whom only a keyed hash is stored.',
      examples: ['ada@example.com'],
    }),
    reason: Reason,
    emailId: Type.Union([Type.String(), Type.Null()], {
      description: 'The email that caused it; null for a manual entry.',
    }),
    createdAt: Type.String({ format: 'date-time', description: 'Since when.' }),
    otherReasons: Type.Array(literals(OWN_ACTS), {
      description:
        'Acts of the person beside the reason, which stay when it is removed: of an address that bounced and had unsubscribed before, `unsubscribed`.',
    }),
  },
  { title: 'Suppression' },
);

export type SuppressionView = Static<typeof Suppression>;

/** The body of POST /v1/suppressions. */
export const SuppressBody = Type.Object(
  {
    address: Type.String({ minLength: 3, maxLength: 320, description: 'The address, without a name.' }),
    reason: Type.Optional(
      literals(['manual', 'unsubscribed'], {
        description:
          '`manual`, the default, stops all email; `unsubscribed` stops email with a way to unsubscribe.',
      }),
    ),
  },
  { title: 'CreateSuppression' },
);

export type SuppressBody = Static<typeof SuppressBody>;

/** The filters of the list. */
export const SuppressionQuery = Type.Object({
  ...pageQuery,
  reason: Type.Optional(
    literals(SUPPRESSION_REASONS, {
      description: 'Only addresses with this reason, among `otherReasons` too.',
    }),
  ),
  address: Type.Optional(Type.String({ maxLength: 320, description: 'Only this address, ignoring case.' })),
  ...sortQuery('address'),
});

export type SuppressionQuery = Static<typeof SuppressionQuery>;

export interface SuppressionRow {
  readonly address: string | null;
  readonly reason: string;
  readonly email_id: string | null;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** Acts beside the reason; absent in replies that were stored by an earlier version. */
  readonly complained?: boolean;
  readonly unsubscribed?: boolean;
}

/** A suppression as it is answered. */
export const viewOf = ({
  address,
  reason,
  email_id,
  created_at,
  ...acts
}: SuppressionRow): SuppressionView => ({
  address,
  reason: reason as SuppressionView['reason'],
  emailId: email_id,
  createdAt: new Date(created_at).toISOString(),
  otherReasons: OWN_ACTS.filter((act) => acts[act] === true),
});
