import type { SuppressionView } from './model.ts';

/** A suppression's row. */
export interface SuppressionRow {
  readonly address: string;
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
