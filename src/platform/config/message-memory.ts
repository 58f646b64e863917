import type { BudgetLimits } from '../async/keyed-budget.ts';

const MIB = 1_048_576;
/** An idle service with its embedded database takes up to so many octets (docs/performance.md). */
const IDLE = 256 * MIB;
/** An octet of a large message takes three to four octets of memory for a while: as it came, decoded, composed, and in its statement (measured). */
const COPIES = 4;
/** A share in MiB: what is useful where memory is plentiful, and what the largest body or message needs, which less would refuse for ever. */
const SHARES = {
  requests: { most: 512, least: 50 },
  submitted: { most: 256, least: 32 },
  received: { most: 256, least: 32 },
  sent: { most: 256, least: 32 },
};
type Share = (typeof SHARES)[keyof typeof SHARES];
const ALL = Object.values(SHARES).reduce((sum, { most }) => sum + most * MIB, 0);

/**
 * Octets of large messages that one process holds at once: bodies of requests, mail by SMTP and `POST /v1/emails/raw`, mail that comes from
 * strangers, and mail that leaves. One workspace or client has half of each.
 */
export type MessageMemory = Readonly<Record<keyof typeof SHARES, BudgetLimits>>;

/**
 * The shares of large messages in a memory of so many octets. From a GiB on, all of them full at once fit in it. Eight requests of 18 MB ended a service
 * in a container of 512 MB, when the shares were the same everywhere.
 */
export function messageMemory(memory: number): MessageMemory {
  const part = Math.min(1, (memory - IDLE) / COPIES / ALL);
  const share = ({ most, least }: Share): BudgetLimits => {
    const total = Math.max(least * MIB, Math.floor(most * MIB * part));
    return { total, each: Math.max(least * MIB, Math.floor(total / 2)) };
  };
  const { requests, submitted, received, sent } = SHARES;
  return {
    requests: share(requests),
    submitted: share(submitted),
    received: share(received),
    sent: share(sent),
  };
}

/** The shares of this process, by the limit of its container or unit, else by the memory of the machine. */
export const MESSAGE_MEMORY = messageMemory(process.constrainedMemory());
