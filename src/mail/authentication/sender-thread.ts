// The entry point of the thread that checks senders, which is a separate bundle in the executable
// (scripts/build.ts).
import { serve } from '../../platform/threads/serve.ts';
import { AnswerMemory } from '../dns/answer-memory.ts';
import type { NameServer } from '../dns/exchange.ts';
import { createResolver } from '../dns/resolver.ts';
import { LOOKUP_LIMITS } from './bounded-lookups.ts';
import { checkSender, type ReceivedMessage } from './check-sender.ts';
import type { SenderResults } from './sender-results.ts';

/** A message, and the name servers to ask about it. */
export interface SenderQuestion extends ReceivedMessage {
  readonly servers: readonly NameServer[];
  /** The time of its lookups; 20 seconds when left out. */
  readonly withinMs?: number;
}

const memory = new AnswerMemory();

serve(
  ({ servers, withinMs = LOOKUP_LIMITS.withinMs, ...message }: SenderQuestion): Promise<SenderResults> =>
    checkSender(message, createResolver(servers, undefined, memory), { ...LOOKUP_LIMITS, withinMs }),
);
