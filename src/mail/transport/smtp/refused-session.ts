import { limitInWords, saysConnections, saysIdle } from '../limits/limit-words.ts';
import type { Progress, SessionFailure } from './session.ts';

/**
 * The reply of a server about a session, not about the mail. The mail was surely not taken, so that another
 * session may carry it. `rate`: not so many in this time. `full`: no more over this session, or no more
 * sessions. `ended`: it closed the session before it read the mail.
 */
export interface SessionRefusal {
  readonly what: 'rate' | 'full' | 'ended';
  /** True when it names a limit, so that its number may be learned from it. */
  readonly inWords: boolean;
  /** True when it says that the session was unused for too long. */
  readonly isIdle: boolean;
  /**
   * The recipient, where the server knew it, so that the refusal may be about it or about the mail; else
   * null.
   */
  readonly recipient: string | null;
  /** False when it names another limit than connections. */
  readonly mayBeConnections: boolean;
}

/**
 * The refusal of a session after a mail was tried over it; null where the server has answered about the mail.
 */
export function refusedBy(progress: readonly Progress[], mailsBefore: number): SessionRefusal | null {
  const [first] = progress;
  if (first === undefined || progress.some(({ reply, step }) => isTaken(reply) || step !== first.step))
    return null;
  const { step, reply } = first;
  if (reply === null) {
    const isUnread = step === 'SESSION' || (step === 'DATA' && mailsBefore > 0);
    const unsaid = { inWords: false, isIdle: false, recipient: null, mayBeConnections: true };
    return isUnread ? { what: 'ended', ...unsaid } : null;
  }
  const words = limitInWords(reply, step);
  const isNamed = step === 'RCPT' || step === 'DATA' || step === 'DOT';
  const said = {
    isIdle: saysIdle(reply),
    recipient: isNamed ? first.recipient : null,
    mayBeConnections: !isNamed || words === null || saysConnections(reply),
  };
  if (words === 'rate') return { what: 'rate', inWords: true, ...said };
  if (words === 'count') return { what: 'full', inWords: true, ...said };
  // No recipient is known at MAIL, and 421 ends the session: neither is about the mail. After the dot 421 is
  // about the server.
  const isOfSession = step === 'MAIL' ? /^4\d\d/.test(reply) : step !== 'DOT' && reply.startsWith('421');
  return isOfSession ? { what: 'full', inWords: false, ...said } : null;
}

/**
 * True when a session could not be opened for a reason that may be a limit: refused for now, closed, or
 * without an answer.
 */
export const mayBeLimit = ({ stage, reply }: SessionFailure): boolean =>
  stage === 'connect' || (reply !== null && /^4\d\d/.test(reply) && stage !== 'aborted');

/** True when the refusal of a session names a limit. */
export const namesLimit = ({ reply }: SessionFailure): boolean =>
  reply !== null && limitInWords(reply, 'SESSION') !== null;

const isTaken = (reply: string | null): boolean => reply?.startsWith('2') ?? false;
