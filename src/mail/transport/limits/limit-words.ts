import { type Reply, readReply, type Step } from '../smtp/reply.ts';
import { kindOfWords } from '../smtp/reply-words.ts';

/**
 * The limit that a refusal speaks of. `rate`: mails in a time, or anything else that only time heals.
 * `count`: connections, or mails in a session, so that another session may take the mail at once.
 */
export type LimitWords = 'rate' | 'count';

/** The limit in the words of a temporary refusal at that step; null where it speaks of none. */
export function limitInWords(response: string, step: Step): LimitWords | null {
  const reply = readReply(response);
  const { code, enhancedCode, text } = reply;
  if (code === null || code < 400 || code >= 500) return null;
  // Greylisting is about one recipient, and lasts for minutes on purpose.
  if (/gr[ae]y.?list/i.test(text) || isOfMailbox(reply)) return null;
  // Gmail's unusual rate of mail, by its own detail of RFC 3463's policy.
  if (enhancedCode === '4.7.28') return 'rate';
  if (COUNT.test(text)) return 'count';
  // One recipient may have a rate. It is no rate of all mail.
  if (RATE.test(text)) return step !== 'RCPT' || OF_CLIENT.test(text) ? 'rate' : null;
  return enhancedCode === '4.5.3' ? 'count' : null;
}

/**
 * True when a refused recipient says that the mail has enough of them (RFC 5321, 4.5.3.1.10), and the others
 * may follow in another.
 */
export const saysEnoughRecipients = (response: string): boolean =>
  /^45\d[ -]/.test(response) && (/^\d{3}[ -]4\.5\.3(?!\S)/.test(response) || MANY_RECIPIENTS.test(response));

/**
 * True when a refusal speaks of connections at once, so that a session that works may still take the mail.
 */
export const saysConnections = (response: string): boolean =>
  /\b(connections|sessions|clients|processes)\b|\bconcurren|\bsimultaneous/i.test(response);

/** True when the other side says that it waited too long: its limit is on time, and not on mails. */
export const saysIdle = (response: string): boolean => /time.?d? ?out|idle|inactiv/i.test(response);

/**
 * A mailbox that is full has a quota, and one that gets too much has a rate: neither is a limit of the
 * server.
 */
const isOfMailbox = ({ enhancedCode, text }: Reply): boolean =>
  (enhancedCode?.startsWith('4.2.') ?? false) ||
  RECEIVES.test(text) ||
  (kindOfWords(text) === 'MailboxFull' && !OF_SENDING.test(text));

const RECEIVES =
  /\b(user|recipient|mail ?box|account|inbox|addressee)\b[^.;]{0,60}\b(receiv|getting|over ?quota|full)/i;

/** A quota of what is sent: by its time, or by its name. */
const OF_SENDING =
  /\b(sending|sender|outgoing|outbound|relay(ing)?|submission|hourly|daily|policy)\b|\b(per|an?|each|every) (second|minute|hour|day)\b|\b(client|connection) \w{0,20} ?quota/i;

/** Words to the client, of it or of all that it sends. */
const OF_CLIENT =
  /\b(sender|sending|clients?|connections?|sessions?|messages|e?-?mails|hosts?|ips?|networks?|recipients from|too much mail|server busy)\b|\byou(r|'re)?\b(?! (are|were) trying)|\bslow(ing)? down\b|\btoo fast\b/i;

const MANY_RECIPIENTS = /\btoo many (recipients|rcpts?)\b(?!.*\b(from|per|rate)\b)/i;

/**
 * Words of Exim, Courier, Postfix, OpenSMTPD, Exchange, Stalwart, Amazon and others for connections at once
 * and mails in a session.
 */
const COUNT =
  /\bconcurren|\bsimultaneous|\btoo many[^.,;]{0,30}\b(connections?|sessions|clients|processes)\b|\b(connections?|sessions?)\b[^.,;]{0,20}\b(limit|exceeded|maximum)|\bmax(imum)?\b[^.,;]{0,30}\b(connections|sessions)\b|\b(per|in|over|this|one|single|same) (this |one |a |single )*(smtp )?(session|connection)\b|\btoo many (messages|mails|emails|transactions) sent\b|\bmessage count\b/i;

const RATE =
  /\brate\b|\bthrottl|\bslow(ing)? down\b|\b(per|a|an|each|every) (second|minute|hour|day)\b|\btoo (many|much) (e?-?mails?|messages|deliveries|recipients from|log.?ins?|auth|requests|commands|new tls)|\b(sending|messages?|e?-?mails?|hourly|daily|sender|policy|outgoing|outbound|relay(ing)?|submission)\b[^.;]{0,20}\b(limit|quota)|\b(limit|quota)\b[^.;]{0,30}\b(sending|messages|mails|sender|hour|day)\b|\bserver busy\b|\btoo (fast|quickly)\b/i;
