import { addressKeyOf } from '../../mail/received/address-keys.ts';
import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import { withoutRegion } from '../../mail/transport/ses/ses-message-id.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { ID_ALPHABET } from '../../platform/db/ids.ts';
import { WHOLE_CALL } from '../../platform/db/stored-replies.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { isoOf } from '../../platform/time/clock.ts';
import type { TestClocks } from '../emails/commands.ts';
import { sentKeySql, wholeEnvelope } from '../emails/queries.ts';
import { type Recipient, repliedEmailOf } from '../inbound-routes/queries.ts';
import { contactOfSql } from '../suppressions/queries.ts';
import type { ReceivedItem } from './model.ts';

/** The workspace and environment of an email. */
interface Owner {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/** A message to recipients of one workspace and environment, as far as it says what it answers. */
export interface ReplyQuestion {
  readonly mail: Pick<ReceivedMail, 'from' | 'inReplyTo' | 'references' | 'isAutomatic'>;
  readonly recipients: readonly Pick<Recipient, 'name' | 'tag'>[];
  /** True for a null sender. */
  readonly isNull: boolean;
  readonly authentication: ReceivedItem['authentication'] | undefined;
}

/** The email that a message answers. */
export interface RepliedTo {
  readonly emailId: string;
  /** Null where the contact is none any more, or cannot be told among several recipients. */
  readonly contactId: string | null;
  readonly campaignId: string | null;
  readonly flowRunId: string | null;
  /** The test clock of the email. */
  readonly testClockId: string | null;
  /** The thread that the email continues; null where it begins one. */
  readonly threadId: string | null;
  /** The message that began its thread: itself, unless its client has named another. */
  readonly root: string;
}

interface EmailRow {
  readonly id: string;
  readonly recipient_keys: readonly string[];
  readonly campaign_id: string | null;
  readonly envelope: unknown;
  readonly test_clock_id: string | null;
}

/** Message-IDs that are looked for: the nearest of a long thread. */
const MOST_IDS = 20;
/** The Message-ID that the service makes holds the id of its email. */
const OWN_ID = new RegExp(`^<(em_[${ID_ALPHABET}]{24})@[^@>]+>$`);

/** Emails have the row of their acceptance from then on, whether or not they were sent. */
const EMAILS = `select e.id, e.recipient_keys, e.campaign_id, e.envelope, e.test_clock_id from emails e
where e.workspace_id = $1 and e.livemode = $2::boolean and e.id = any($3::text[])`;

/**
 * The emails of Message-IDs that are not made of their id: chosen by a client, of a raw message, or of SES.
 * $4 is the sender of the answer.
 */
const NAMED = `with named as (select n.id, ${sentKeySql('n.id', '$4::text')} as key from unnest($3::text[]) as n(id))
select n.id as "messageId", s.email_id as "emailId" from named n join sent_message_ids s on s.key = n.key
where s.workspace_id = $1 and s.livemode = $2::boolean
union all
select m.message_id, m.email_id from message_ids m
where m.workspace_id = $1 and m.livemode = $2::boolean and m.message_id = any($3::text[])`;

/**
 * Contacts are looked up one by one, as in `enrol.ts` of flows. $3 for each email its number, its id, its
 * campaign, the contact that a flow wrote to, and the key of the recipient.
 */
const CONTEXTS = `select o.ord, c.id as "contactId", case when o.of_flow is not null then (
  select l.run_id from flow_runs r join flow_run_log l on l.run_id = r.id where r.contact_id = c.id and l.email_id = o.email_id limit 1
) end as "flowRunId"
from (select a.*, coalesce(a.of_flow, (
  select r.contact_id from campaign_recipients r where r.campaign_id = a.campaign_id and r.address_hash = md5(a.key)::uuid
), ${contactOfSql({ workspaceId: '$1', livemode: '$2::boolean', key: 'a.key' })}) as id
from json_to_recordset($3::text::json) as a(ord integer, email_id text, campaign_id text, of_flow text, key text)) o
cross join lateral (
  select id from contacts
  where workspace_id = $1 and livemode = $2::boolean and id >= o.id and id <= o.id order by id limit 1
) c`;

/** The Message-IDs that a message names as those before it, the nearest first. */
const namedIds = ({ inReplyTo, references }: ReplyQuestion['mail']): readonly string[] =>
  [...new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()])].slice(0, MOST_IDS);

/** The emails of those Message-IDs, in the same order. @throws UnavailableError */
async function emailsNamed(
  database: Database,
  { workspaceId, livemode }: Owner,
  mail: ReplyQuestion['mail'],
  sender: string,
): Promise<readonly string[]> {
  const ids = namedIds(mail).map(withoutRegion);
  if (ids.length === 0) return [];
  const rows = await database.query<{ messageId: string; emailId: string }>(NAMED, [
    workspaceId,
    livemode,
    ids,
    sender,
  ]);
  return ids.flatMap((id) => [
    ...rows.flatMap(({ messageId, emailId }) => (messageId === id ? [emailId] : [])),
    ...(OWN_ID.exec(id)?.slice(1) ?? []),
  ]);
}

/**
 * The email of the workspace and environment that a message answers, for each of its recipients there; null
 * when there is none. A token proves itself. A Message-ID can be read by anyone who has seen the message, so
 * that it counts only from a recipient of the email, and only where DMARC passes or the domain asks for none:
 * a sender can make a check fail for a while. Mail that no person wrote answers nothing. The sender waits for
 * it, so that the statements are the same few for one recipient and for a hundred. @throws UnavailableError
 */
export async function findReplied(
  { database, signer }: { readonly database: Database; readonly signer: Signer },
  owner: Owner,
  { mail, recipients, isNull, authentication }: ReplyQuestion,
): Promise<readonly (RepliedTo | null)[]> {
  const none = recipients.map(() => null);
  if (mail.isAutomatic || isNull) return none;
  const promised = recipients.map((recipient) => {
    const token = repliedEmailOf(recipient, signer);
    return token?.isOf(owner) ? token.emailId : null;
  });
  const sender = mail.from === null ? null : addressKeyOf(mail.from.address);
  const isProven = authentication == null || TRUSTED.has(authentication.dmarc);
  const named = sender !== null && isProven ? await emailsNamed(database, owner, mail, sender) : [];
  const sought = [...new Set([...promised.filter((id) => id !== null), ...named])];
  if (sought.length === 0) return none;
  const { workspaceId, livemode } = owner;
  const rows = await database.query<EmailRow>(EMAILS, [workspaceId, livemode, sought]);
  const answered = promised.map((token) => answeredBy(rows, { sender, token, named }));
  return withContext(database, owner, answered);
}

/** An email that is answered, and the recipient of it who answers; null where it cannot be told who does. */
interface AnsweredEmail {
  readonly email: EmailRow;
  readonly key: string | null;
}

/**
 * The first of the emails that a message names, by its token or by the Message-IDs before it, which its
 * sender may answer.
 */
function answeredBy(
  rows: readonly EmailRow[],
  {
    sender,
    token,
    named,
  }: { readonly sender: string | null; readonly token: string | null; readonly named: readonly string[] },
): AnsweredEmail | null {
  for (const id of token === null ? named : [token, ...named]) {
    const email = rows.find((row) => row.id === id);
    const key = email?.recipient_keys.find((one) => one === sender) ?? null;
    if (!email || (key === null && id !== token)) continue;
    // A single recipient may answer from another address.
    const [only, ...further] = email.recipient_keys;
    return { email, key: key ?? (further.length === 0 ? (only ?? null) : null) };
  }
  return null;
}

/** The first Message-ID of References, or else of In-Reply-To, in the header fields of a client. */
const rootNamedIn = (
  headers: readonly { readonly name: string; readonly value: string }[],
): string | null => {
  const fieldValue = (name: string) => headers.find((one) => one.name.toLowerCase() === name)?.value ?? '';
  return /<[^<>\s]+>/.exec(`${fieldValue('references')} ${fieldValue('in-reply-to')}`)?.[0] ?? null;
};

type ContextRow = Pick<RepliedTo, 'contactId' | 'flowRunId'> & { readonly ord: number };

/** The contact behind the recipient of each email, and the run of a flow that sent it. */
async function withContext(
  database: Database,
  { workspaceId, livemode }: Owner,
  answered: readonly (AnsweredEmail | null)[],
): Promise<readonly (RepliedTo | null)[]> {
  const envelopes = answered.map((one) => one && wholeEnvelope(one.email.id, one.email.envelope));
  const asked = answered.flatMap((one, ord) =>
    one === null || one.key === null
      ? []
      : [
          {
            ord,
            email_id: one.email.id,
            campaign_id: one.email.campaign_id,
            key: one.key,
            of_flow: envelopes[ord]?.contactId ?? null,
          },
        ],
  );
  const rows =
    asked.length === 0
      ? []
      : await database.query<ContextRow>(CONTEXTS, [workspaceId, livemode, JSON.stringify(asked)]);
  const contexts = new Map(rows.map((row) => [row.ord, row]));
  return answered.map((one, ord) => {
    const envelope = envelopes[ord];
    if (!one || !envelope) return null;
    const { id: emailId, campaign_id: campaignId, test_clock_id: testClockId } = one.email;
    return {
      emailId,
      campaignId,
      testClockId,
      threadId: envelope.threadId ?? null,
      root: rootNamedIn(envelope.headers) ?? envelope.messageId,
      contactId: contexts.get(ord)?.contactId ?? null,
      flowRunId: contexts.get(ord)?.flowRunId ?? null,
    };
  });
}

/** A message as a reply, to be counted once for all recipients of it. */
export interface CountedReply {
  /** Epoch milliseconds, by the test clock where there is one. */
  readonly at: number;
  readonly clockId: string | null;
}

/** The answers of one message: for each recipient the email, and the reply where it counts. */
export interface Replies {
  readonly replied: readonly (RepliedTo | null)[];
  readonly counted: readonly (CountedReply | null)[];
}

/** The results of DMARC with which a sender counts as the one that From names. */
const TRUSTED: ReadonlySet<string> = new Set(['pass', 'none']);

/** The services that finding replies calls. */
export interface ReplyDeps {
  readonly database: Database;
  readonly signer: Signer;
  /** The clocks of test mail. */
  readonly testClocks: () => TestClocks | undefined;
}

/** The members of a message by which it differs from others. */
interface CountedMessage {
  readonly now: number;
  /** The same in every transaction that carries the message. */
  readonly digest: string;
  /** The message with each recipient, in the order of the recipients. */
  readonly fingerprints: readonly string[];
}

/**
 * The key of a reply is the first recipient's who comes with it, also when the sender repeats the
 * transaction.
 */
const COUNT = `with asked as (
  select a.key, a.fingerprint from json_to_recordset($3::text::json) as a(key text, fingerprint text)
), own as (
  insert into idempotency_keys (workspace_id, livemode, key, item, fingerprint, status, created_at, reply)
  select $1, $2::boolean, a.key, ${WHOLE_CALL}, a.fingerprint, 250, $4::timestamptz, '' from asked a order by a.key
  on conflict (workspace_id, livemode, key, item) do nothing returning key, fingerprint
)
select key, fingerprint from own union all
select k.key, k.fingerprint from idempotency_keys k
where k.workspace_id = $1 and k.livemode = $2::boolean and k.key = any(array(select a.key from asked a)) and k.item = ${WHOLE_CALL}`;

/**
 * A message to one recipient that answers an email of a contact, by the key under which replies to it count.
 */
interface CountableReply {
  readonly key: string;
  readonly fingerprint: string;
}

/**
 * The keys of those messages that count as the reply: a message may come for each of its recipients in a
 * transaction apart.
 */
async function countedKeys(
  database: Database,
  { workspaceId, livemode }: Owner,
  replies: readonly CountableReply[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (replies.length === 0) return new Set();
  const rows = await database.query<CountableReply>(COUNT, [
    workspaceId,
    livemode,
    JSON.stringify(replies),
    isoOf(now),
  ]);
  const own = new Map(replies.map(({ key, fingerprint }) => [key, fingerprint]));
  return new Set(rows.flatMap(({ key, fingerprint }) => (own.get(key) === fingerprint ? [key] : [])));
}

/**
 * Finds the email that a message answers, for each of its recipients in one workspace and environment.
 * @throws UnavailableError
 */
export async function findReplies(
  deps: ReplyDeps,
  owner: Owner,
  question: ReplyQuestion,
  { now, digest, fingerprints }: CountedMessage,
): Promise<Replies> {
  const replied = await findReplied(deps, owner, question);
  const emails = new Set<string>();
  const firsts = replied.map((one) => {
    const isFirst = one !== null && !emails.has(one.emailId);
    if (isFirst) emails.add(one.emailId);
    return isFirst ? one : null;
  });
  // No client can choose these keys: theirs have no spaces.
  const keys = firsts.map((one) =>
    one === null || one.contactId === null ? null : `reply ${one.contactId} ${one.emailId} ${digest}`,
  );
  const countable = keys.flatMap((key, index) =>
    key === null ? [] : [{ key, fingerprint: fingerprints[index] ?? '' }],
  );
  const own = await countedKeys(deps.database, owner, countable, now);
  const counted = await Promise.all(
    firsts.map(async (one, index) => {
      const key = keys[index] ?? null;
      return one !== null && (key === null || own.has(key)) ? await momentOf(deps, owner, one, now) : null;
    }),
  );
  return { replied, counted };
}

/**
 * The time of a reply by the clock of its email, or of its contact; a clock that moves at this moment is
 * followed by real time.
 */
async function momentOf(
  { testClocks }: ReplyDeps,
  { workspaceId, livemode }: Owner,
  { contactId, testClockId }: RepliedTo,
  now: number,
): Promise<CountedReply> {
  const clocks = livemode ? undefined : testClocks();
  const clock = await (testClockId === null
    ? contactId !== null && clocks?.ofContact(workspaceId, contactId)
    : clocks?.find(workspaceId, testClockId));
  if (clock instanceof Failure) return { at: now, clockId: testClockId };
  return clock ? { at: clock.now, clockId: clock.id } : { at: now, clockId: null };
}
