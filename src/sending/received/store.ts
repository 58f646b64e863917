import type { Engine } from '../../engine/engine.ts';
import { addressKeyOf, LONGEST_PATH } from '../../mail/received/address-keys.ts';
import { namedRoot } from '../../mail/received/header.ts';
import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import { mintId } from '../../platform/db/ids.ts';
import { storableText } from '../../platform/db/storable.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { type Clock, isoOf } from '../../platform/time/clock.ts';
import type { ReceivingRoute, Recipient } from '../inbound-routes/queries.ts';
import type { ContentWriter } from './content-writer.ts';
import { type ContentDeps, dropContents, packMessage, storeContent } from './contents.ts';
import { LEASE_MS } from './kind.ts';
import type { ReceivedItem } from './model.ts';
import { type CountedReply, findReplies, type RepliedTo, type ReplyDeps } from './replied.ts';
import { LARGEST_SUMMARY, type ReceivedSummary, summaryOf } from './summary.ts';
import type { StoredAuthentication } from './views.ts';

/** A recipient of a message with the route that takes it for him. */
export interface TakenRecipient {
  readonly route: Pick<ReceivingRoute, 'id' | 'workspaceId' | 'livemode' | 'action' | 'spam'>;
  readonly recipient: Pick<Recipient, 'address' | 'tag' | 'name' | 'domain'>;
}

/** A message that came, read and not yet stored. */
export interface Arrival {
  /** Empty for a null sender. */
  readonly envelopeFrom: string;
  readonly taken: readonly TakenRecipient[];
  readonly raw: Buffer;
  readonly mail: ReceivedMail;
  /** The results of SPF, DKIM and DMARC; absent where they were not checked. */
  readonly authentication?: StoredAuthentication | null;
  /** The mailbox that it was read of; absent of one that came by SMTP. */
  readonly mailbox?: MailboxPlace;
  /** The verdict of a spam filter; absent where none was asked. */
  readonly spam?: ReceivedItem['spam'];
}

/** The place of a message in a mailbox, which is noted with it. */
export interface MailboxPlace {
  readonly id: string;
  /** The instance that reads it. */
  readonly holder: string;
  readonly uidValidity: number;
  readonly uid: number;
  readonly digest: string;
}

/** The services that storing a message calls. */
export interface StoreDeps extends ContentDeps, ReplyDeps {
  readonly engine: Pick<Engine, 'spawnTogether'>;
  readonly contents: Pick<ContentWriter, 'write'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** About the octets of a row in a statement: its summary, three addresses, and the rest. */
const ROW_OCTETS = LARGEST_SUMMARY + 3 * LONGEST_PATH + 1_024;

const sha256 = (...texts: readonly string[]): string =>
  new Bun.CryptoHasher('sha256').update(texts.join('\n')).digest('hex');

/** Groups recipients by their workspace and environment. */
const ownersOf = (taken: readonly TakenRecipient[]): readonly (readonly TakenRecipient[])[] => [
  ...Map.groupBy(taken, ({ route: { workspaceId, livemode } }) => `${workspaceId} ${livemode}`).values(),
];

/**
 * Stores a message for each of its recipients, and returns their ids in the same order: all in one commit, or
 * none. The same message to the same recipient within a day is stored once, and has the id of the first time.
 * @throws UnavailableError
 */
export async function storeArrival(deps: StoreDeps, arrival: Arrival): Promise<readonly string[]> {
  const now = deps.clock.now();
  const { raw, mail, envelopeFrom } = arrival;
  const sender = envelopeFrom === '' ? [] : [addressKeyOf(envelopeFrom)];
  const summary = summaryOf(mail);
  const packed = await packMessage(raw, mail, summary, [...new Set([...sender, ...mail.addressKeys])]);
  const contents = new Map<string, string>();
  for (const group of ownersOf(arrival.taken)) {
    const { workspaceId, livemode } = (group[0] as TakenRecipient).route;
    const id = await storeContent(deps, { workspaceId, livemode }, packed, now);
    contents.set(`${workspaceId} ${livemode}`, id);
  }
  const replies = await repliesOf(deps, arrival, now);
  const drafts = arrival.taken.map((one) => {
    const { replied = null, counted = null } = replies.get(one) ?? {};
    return draftOf(arrival, summary.kept, one, { contents, now, replied, counted });
  });
  // One mailbox that RCPT names twice is one recipient; the first of them counts as the reply.
  const once = [...new Map(drafts.toReversed().map((draft) => [draft.once, draft])).values()].reverse();
  const ids = new Map<string, string>();
  const unused = new Set(contents.values());
  let missing: readonly Draft[] = once;
  for (let tries = 0; missing.length > 0 && tries < MOST_TRIES; tries++)
    missing = await spawnMissing(deps, missing, ids, unused);
  // The pruner finds those that a crash leaves.
  if (unused.size > 0) await dropContents(deps.database, [...unused]).catch(() => {});
  if (missing.length > 0) throw new UnavailableError('The message was deleted while it came again.');
  const clocks = [...replies.values()].flatMap(({ counted }) => counted?.clockId ?? []);
  if (clocks.length > 0) await deps.testClocks()?.wake([...new Set(clocks)]);
  return drafts.map(({ once: key, id }) => ids.get(key) ?? id);
}

/** A message that is deleted each time that it comes again is left to the next delivery. */
const MOST_TRIES = 20;

const PRESENT = 'select id from received where id = any($1::text[])';

/**
 * Stores those that were not stored within a day, and returns those that were, and are deleted or forgotten
 * since: each is stored under the key of the deleted one.
 */
async function spawnMissing(
  { engine, database }: StoreDeps,
  drafts: readonly Draft[],
  ids: Map<string, string>,
  unused: Set<string>,
): Promise<readonly Draft[]> {
  const spawned = await engine.spawnTogether(
    'received',
    drafts.map(({ request }) => request),
  );
  const replayed = new Map<Draft, string>();
  for (const [index, result] of spawned.entries()) {
    const draft = drafts[index] as Draft;
    if (result.outcome === 'withheld')
      throw new UnavailableError('Another instance reads this mailbox, or its settings have changed.');
    if (result.outcome === 'replayed') replayed.set(draft, JSON.parse(result.reply) as string);
    else ids.set(draft.once, draft.id);
    if (result.outcome === 'spawned') unused.delete(draft.request.columns.content_id);
  }
  if (replayed.size === 0) return [];
  const rows = await database.query<{ id: string }>(PRESENT, [[...replayed.values()]]);
  const present = new Set(rows.map(({ id }) => id));
  return [...replayed].flatMap(([draft, id]) => {
    ids.set(draft.once, id);
    if (present.has(id)) return [];
    const { claim } = draft.request;
    return [{ ...draft, request: { ...draft.request, claim: { ...claim, key: `received ${id}` } } }];
  });
}

type Draft = ReturnType<typeof draftOf>;

/** The parts of a draft besides its message and its recipient. */
interface DraftParts {
  readonly contents: ReadonlyMap<string, string>;
  readonly now: number;
  readonly replied: RepliedTo | null;
  readonly counted: CountedReply | null;
}

/** The emails that a message answers, by its recipients. @throws UnavailableError */
async function repliesOf(
  deps: StoreDeps,
  { taken, mail, envelopeFrom, authentication }: Arrival,
  now: number,
): Promise<ReadonlyMap<TakenRecipient, Pick<DraftParts, 'replied' | 'counted'>>> {
  const digest = sha256(mail.messageId ?? '', mail.digest);
  const each = await Promise.all(
    ownersOf(taken).map(async (group) => {
      const { route } = group[0] as TakenRecipient;
      const recipients = group.map(({ recipient }) => recipient);
      const question = { mail, recipients, authentication, isNull: envelopeFrom === '' };
      const fingerprints = recipients.map((recipient) => fingerprintOf(mail, recipient));
      const { replied, counted } = await findReplies(deps, route, question, { now, digest, fingerprints });
      return group.map((one, at) => {
        const parts = { replied: replied[at] ?? null, counted: counted[at] ?? null };
        return [one, parts] as const;
      });
    }),
  );
  return new Map(each.flat());
}

/** The id of the thread that a Message-ID began. */
const threadOf = (workspaceId: string, root: string): string =>
  `thr_${sha256(workspaceId, root).slice(0, 24)}`;

/** The same for one message to one recipient. */
const fingerprintOf = (mail: ReceivedMail, recipient: Pick<Recipient, 'address'>): string =>
  sha256(mail.messageId ?? '', mail.digest, addressKeyOf(recipient.address));

function draftOf(
  arrival: Arrival,
  summary: ReceivedSummary,
  { route, recipient }: TakenRecipient,
  { contents, now, replied, counted }: DraftParts,
) {
  const { mail, envelopeFrom, raw, mailbox } = arrival;
  const { workspaceId, livemode } = route;
  const id = mintId('rcv', now);
  const fingerprint = fingerprintOf(mail, recipient);
  const request = {
    id,
    workspaceId,
    livemode,
    input: { at: now, leaseMs: LEASE_MS, isKept: route.action === 'keep' },
    columns: {
      route_id: route.id,
      content_id: contents.get(`${workspaceId} ${livemode}`) ?? '',
      envelope_from: storableText(envelopeFrom, LONGEST_PATH),
      recipient: recipient.address,
      tag: recipient.tag,
      thread_id:
        replied?.threadId ?? threadOf(workspaceId, namedRoot(mail) ?? replied?.root ?? mail.messageId ?? id),
      email_id: replied?.emailId ?? null,
      contact_id: replied?.contactId ?? null,
      campaign_id: replied?.campaignId ?? null,
      flow_run_id: replied?.flowRunId ?? null,
      // Once for all recipients of a message: it is one reply.
      replied_at: counted && replied?.contactId ? isoOf(counted.at) : null,
      reply_clock_id: counted?.clockId ?? null,
      campaign_replied_at: counted && replied?.campaignId ? isoOf(counted.at) : null,
      is_automatic: mail.isAutomatic || envelopeFrom === '',
      address_keys: [addressKeyOf(recipient.address)],
      summary,
      authentication: arrival.authentication ?? null,
      spam: arrival.spam ?? null,
      size: raw.length,
      mailbox_id: mailbox?.id ?? null,
      mailbox_holder: mailbox?.holder ?? null,
      mailbox_validity: mailbox?.uidValidity ?? null,
      mailbox_uid: mailbox?.uid ?? null,
      mailbox_digest: mailbox?.digest ?? null,
    },
    bytes: ROW_OCTETS,
    claim: {
      key: `received ${fingerprint}`,
      scope: { workspaceId, livemode },
      fingerprint,
      status: 250,
      reply: () => JSON.stringify(id),
    },
  };
  return { id, request, once: `${workspaceId} ${livemode} ${fingerprint}` };
}
