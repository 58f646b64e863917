import type { Sender } from './message.ts';
import { failureToMake, type NotAttempted, PRECHECK_FAILURES } from './outcome.ts';
import type { AttemptInput } from './prepare.ts';
import type { LiveMessage, Withholding } from './reader.ts';

/** A message that copies can be made of. */
export interface SendableMessage {
  readonly message: LiveMessage;
  readonly sender: Sender;
  readonly suppressed: ReadonlyMap<string, Withholding>;
}

/** The message of an attempt; or the outcome for all recipients, where nothing can be sent. */
export function sendableOf(prepared: AttemptInput): SendableMessage | Omit<NotAttempted, 'recipient'> {
  const { message, sender, suppressed, skipped, unmade, lost } = prepared;
  if (!message) return PRECHECK_FAILURES[lost ? (`body-${lost.what}` as const) : 'pruned'];
  // Before the sender: who is not to get it waits for no domain.
  if (skipped !== null) return { outcome: 'suppressed', data: { reason: skipped } };
  if (typeof sender === 'string') return PRECHECK_FAILURES[sender];
  if (unmade !== undefined) return failureToMake(unmade);
  return { message, sender, suppressed };
}
