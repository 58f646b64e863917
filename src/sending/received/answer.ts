import { type Static, Type } from '@sinclair/typebox';
import type { InsertRule } from '../../http/module.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { formatAddress, isProblem, parseAddress } from '../../platform/text/address.ts';
import type { AcceptanceDeps } from '../emails/accept.ts';
import { sendEmail } from '../emails/commands.ts';
import { type EmailReceipt, SendBody } from '../emails/queries.ts';
import { type ReceivedParts, readParts } from './contents.ts';
import { findReceived, NO_RECEIVED } from './queries.ts';
import type { ReceivedRow } from './views.ts';

/** The body of `POST /v1/received/{id}/reply`: that of a send, without what the received message says. */
export const ReplyBody = Type.Omit(SendBody, ['to', 'subject'], {
  title: 'ReplyToReceived',
  additionalProperties: false,
});
export type ReplyBody = Static<typeof ReplyBody>;

/** The services that answering a message calls. */
export interface AnswerDeps {
  readonly database: Database;
  readonly acceptance: () => AcceptanceDeps;
}

/** The email that answers a message is noted with it, as long as the message is there. */
export const answerInsertRule: InsertRule = {
  of: 'email',
  columns: 'answers_received_id text',
  conditions: [],
  writes: [
    (admitted) => `insert into received_answers (received_id, email_id)
  select r.id, a.id from ${admitted} a join received r on r.id = a.answers_received_id and r.workspace_id = a.workspace_id
  where a.answers_received_id is not null`,
  ],
};

const AUTOMATIC = new Failure(
  'CONFLICT',
  'No person wrote this message: it is an automatic answer, a report or a mailing list.',
  { suggestion: 'Write to the person with POST /v1/emails instead.' },
);
const NO_ADDRESS = new Failure('CONFLICT', 'This message names no address that an answer could go to.', {
  suggestion: 'Write to the person with POST /v1/emails instead.',
});

/** Addresses of Reply-To that an answer goes to: a stranger chooses them. */
const MOST = 5;
const TOO_MANY = new Failure('CONFLICT', `The Reply-To of this message names more than ${MOST} addresses.`, {
  suggestion: 'Choose the recipients by yourself, with POST /v1/emails.',
});

type AnswerCall = Call<{ readonly id: string }, unknown, ReplyBody>;

/** Answers a received message: a send to its author, in its thread. */
export async function answerReceived(
  { database, acceptance }: AnswerDeps,
  call: AnswerCall,
): Promise<EmailReceipt | Failure | Replay> {
  // A repeated request is answered as the first one, also when the message was deleted since.
  const letter = await idempotently(database, keyedBy(call), { run: () => letterOf(database, call) });
  if (letter instanceof Failure || letter instanceof Replay) return letter;
  const { send, threadId } = letter;
  const onBehalf = { answers_received_id: call.params.id };
  return sendEmail(acceptance(), { ...call, body: send }, { threadId, onBehalf });
}

/** An answer as it is sent. */
interface Letter {
  readonly send: SendBody;
  readonly threadId: string;
}

/** The answer of a request, or the reason why the message cannot be answered. */
async function letterOf(database: Database, { caller, params, body }: AnswerCall): Promise<Letter | Failure> {
  const row = await findReceived({ database }, caller, params.id);
  if (!row) return NO_RECEIVED;
  if (row.isAutomatic) return AUTOMATIC;
  const to = addressesOf(row.summary);
  if (to.length === 0) return NO_ADDRESS;
  if (to.length > MOST) return TOO_MANY;
  const taken = Object.keys(body.headers ?? {}).filter((name) => OF_THREADS.has(name.toLowerCase()));
  if (taken.length > 0)
    return invalid(taken.map((name) => ({ path: `/body/headers/${name}`, message: SET_BY_US })));
  const parts = await readParts(database, caller.workspaceId, row.contentId);
  const headers = { ...body.headers, ...threadFields(row, parts) };
  const send = { ...body, to, subject: answeredSubject(row.summary.subject), headers };
  return { send, threadId: row.threadId };
}

const OF_THREADS: ReadonlySet<string> = new Set(['in-reply-to', 'references']);
const SET_BY_US = 'Must not be given: the service sets it by the message that is answered.';

/** Reply-To, or else From (RFC 5322 3.6.2): each address once. A name that cannot be written is left out. */
function addressesOf({ replyTo, from }: ReceivedRow['summary']): string[] {
  const texts = replyTo.length > 0 ? replyTo : from === null ? [] : [from];
  const read = texts.flatMap((text) => {
    const whole = parseAddress(text);
    const address = isProblem(whole) ? parseAddress(/<([^<>]+)>$/.exec(text)?.[1] ?? '') : whole;
    return isProblem(address) ? [] : [address];
  });
  return [...new Map(read.map((address) => [address.key, formatAddress(address)])).values()];
}

const LONGEST_SUBJECT = 998;
const RE = /^\s*re\s*:/i;

/** The subject with one `Re:` (RFC 5322 3.6.5). */
export function answeredSubject(subject: string | null): string {
  let rest = subject ?? '';
  for (let prefix = RE.exec(rest); prefix; prefix = RE.exec(rest)) rest = rest.slice(prefix[0].length);
  return `Re: ${rest.trim()}`.trim().slice(0, LONGEST_SUBJECT).toWellFormed();
}

/** Octets of References: a value of a field may have 4,096. */
const LONGEST_REFERENCES = 4_000;
/** One that fits into a line; others break the fields of the answer. */
const USABLE = /^<[\x21-\x7e]{1,890}>$/;

/**
 * In-Reply-To and References (RFC 5322 3.6.4). Of a long thread the first message and the nearest are named.
 */
export function threadFields(
  { summary: { messageId, inReplyTo } }: Pick<ReceivedRow, 'summary'>,
  parts: Pick<ReceivedParts, 'references'> | null,
): Readonly<Record<string, string>> {
  if (messageId === null || !USABLE.test(messageId)) return {};
  const references = parts?.references ?? [];
  const before = references.length > 0 ? references : inReplyTo === null ? [] : [inReplyTo];
  const usable = [...new Set(before)].filter((id) => USABLE.test(id) && id !== messageId);
  const [first = messageId, ...others] = [...usable, messageId];
  let room = LONGEST_REFERENCES - first.length;
  const kept = others.toReversed().filter((id) => {
    room -= id.length + 1;
    return room >= 0;
  });
  return { 'In-Reply-To': messageId, References: [first, ...kept.toReversed()].join(' ') };
}
