import type { Fault, RecipientOutcome, SubType } from '../transport.ts';
import { readReply, verdictOf } from './reply.ts';
import type { Progress, SessionFailure } from './session.ts';

/** The outcome for one recipient of a transaction with the server `remoteMta`. */
export const outcomeOf = (
  { recipient, step, reply, problem, isUnreported }: Progress,
  remoteMta: string,
): RecipientOutcome => {
  if (reply !== null) {
    const outcome = withReply(recipient, reply, remoteMta, verdictOf(step, readReply(reply)));
    if (isUnreported && outcome.outcome === 'accepted') return { ...outcome, isUnreported };
    // RFC 5321 3.8: 421 ends the session, whatever it answers, and says that the message was not taken.
    return outcome.smtpCode === 421 ? down(outcome) : outcome;
  }
  // RFC 5321 4.2.5: when the reply to the final dot is lost, it is open whether the server has the message.
  const outcome = step === 'DOT' ? 'unknown' : 'deferred';
  const told = withoutReply(recipient, outcome, `${remoteMta}: ${problem}`, 'ConnectionFailed', remoteMta);
  return step === 'DOT' ? told : down(told);
};

const down = (outcome: RecipientOutcome): RecipientOutcome =>
  outcome.outcome === 'deferred' ? { ...outcome, isServerDown: true } : outcome;

/** The outcome for one recipient when no session could be opened, which is always temporary. */
export const outcomeOfFailure = (
  recipient: string,
  failure: SessionFailure,
  remoteMta: string | null,
): RecipientOutcome => {
  if (failure.stage === 'tls')
    return down(withoutReply(recipient, 'deferred', failure.message, 'TlsFailed', remoteMta));
  if (failure.reply !== null)
    return down(
      withReply(recipient, failure.reply, remoteMta, verdictOf('SESSION', readReply(failure.reply))),
    );
  const told = withoutReply(recipient, 'deferred', failure.message, 'ConnectionFailed', remoteMta);
  // A client that gave up has learned nothing of the server.
  return failure.stage === 'aborted' ? told : down(told);
};

const withReply = (
  recipient: string,
  response: string,
  remoteMta: string | null,
  verdict: Pick<RecipientOutcome, 'outcome' | 'fault' | 'subType'>,
): RecipientOutcome => {
  const { code, enhancedCode, text } = readReply(response);
  return { recipient, ...verdict, smtpCode: code, enhancedCode, response: text, remoteMta, providerId: null };
};

/** An outcome without a reply: with a sentence of our own, and a status where RFC 3463 has one. */
export const withoutReply = (
  recipient: string,
  outcome: 'deferred' | 'unknown' | 'refused',
  response: string,
  subType: SubType,
  remoteMta: string | null = null,
  own: { readonly fault?: Fault; readonly enhancedCode?: string } = {},
): RecipientOutcome => ({
  recipient,
  outcome,
  smtpCode: null,
  enhancedCode: own.enhancedCode ?? null,
  response: response.slice(0, 1_000),
  remoteMta,
  fault: own.fault ?? 'infrastructure',
  subType,
  providerId: null,
});
