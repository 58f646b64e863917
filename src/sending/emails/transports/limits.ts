import { MESSAGE_MEMORY } from '../../../platform/config/message-memory.ts';

/** The limits of live mail. */
export interface LiveLimits {
  /** Attempts that run at once over each transport. */
  readonly slots: number;
  /**
   * As many for campaigns, on top of them, so that a campaign keeps no other mail waiting; more while there
   * is no other (`BulkPace`).
   */
  readonly bulkSlots: number;
  /**
   * Octets of large messages under way at once, over all transports: each message once, and once for each
   * copy.
   */
  readonly octets: number;
  /**
   * Milliseconds between the end of an attempt and the end of its lease, in which its outcome has to become
   * durable. The rest of the lease holds the ten minutes after the final dot (RFC 5321 4.5.3.2.6), and what
   * comes before it.
   */
  readonly marginMs: number;
  /**
   * Milliseconds that a stop waits for attempts under way. It abandons those that remain and records what is
   * known of them.
   */
  readonly stopMs: number;
}

/**
 * The limits in force, unless a test sets others. An octet under way takes about 4 in memory, for a while
 * (measured): it is held as the stored text, decoded, composed, canonical and signed. The largest share, 256
 * MiB, holds five of the largest messages, or as many small ones as there are slots.
 */
export const LIVE_LIMITS: Omit<LiveLimits, 'slots' | 'bulkSlots'> = {
  octets: MESSAGE_MEMORY.sent.total,
  marginMs: 15_000,
  stopMs: 12_000,
};
