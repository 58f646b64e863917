import type { BudgetLimits } from '../async/keyed-budget.ts';
import { processesHere } from './environment.ts';

const MIB = 1_048_576;
/** An idle service with its embedded database takes up to so many octets (docs/performance.md). */
const IDLE = 256 * MIB;
/**
 * An octet of a large message takes three to four octets of memory for a while: as it came, decoded,
 * composed, and in its statement (measured).
 */
const COPIES = 4;
/**
 * A share in MiB: what the largest body or message needs, which less would refuse for ever, and what is
 * useful where memory is plentiful. Strangers send what is received: two of them have room for the largest.
 */
const SHARES = {
  requests: { least: 50, most: 512 },
  submitted: { least: 32, most: 256 },
  received: { least: 32, most: 64 },
  sent: { least: 32, most: 256 },
};
type Share = (typeof SHARES)[keyof typeof SHARES];
/** The memory that all of these take, in octets. */
const taken = (of: keyof Share): number =>
  IDLE + Object.values(SHARES).reduce((sum, share) => sum + share[of] * MIB * COPIES, 0);
/**
 * Octets with which the least of all shares fit beside an idle service, all of them full at once: 840 MiB.
 */
export const FITTING_MEMORY = taken('least');
const MOST = taken('most');

/**
 * Octets of large messages that one process holds at once: bodies of requests, mail by SMTP and `POST
 * /v1/emails/raw`, mail that comes from strangers, and mail that leaves. One workspace or client has half of
 * each.
 */
export type MessageMemory = Readonly<Record<keyof typeof SHARES, BudgetLimits>>;

/**
 * The shares of large messages in a memory of so many octets. From 840 MiB on, all of them full at once fit
 * in it. Eight requests of 18 MB ended a service in a container of 512 MB, when the shares were the same
 * everywhere.
 */
export function messageMemory(memory: number): MessageMemory {
  const part = Math.min(1, Math.max(0, memory - FITTING_MEMORY) / (MOST - FITTING_MEMORY));
  const share = ({ least, most }: Share): BudgetLimits => {
    const total = Math.floor((least + (most - least) * part) * MIB);
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

/**
 * The shares of this process, by the limit of its container or unit, else by the memory of the machine.
 * Workers divide it.
 */
export const MESSAGE_MEMORY = messageMemory(process.constrainedMemory() / processesHere());
