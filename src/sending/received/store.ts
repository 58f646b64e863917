import type { Engine } from '../../engine/engine.ts';
import type { NamedMailbox } from '../../mail/raw/raw-mail.ts';
import { threadRoot } from '../../mail/received/header.ts';
import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import { mintId } from '../../platform/db/ids.ts';
import { storableText } from '../../platform/db/storable.ts';
import { formatAddress, isProblem, parseAddress } from '../../platform/text/address.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { ReceivingRoute, Recipient } from '../inbound-routes/queries.ts';
import { type ContentDeps, dropContents, packMessage, storeContent } from './contents.ts';
import { LEASE_MS } from './kind.ts';
import type { ReceivedItem } from './model.ts';

/** A recipient of a message with the route that takes it for him. */
export interface TakenRecipient {
  readonly route: Pick<ReceivingRoute, 'id' | 'workspaceId' | 'livemode' | 'action'>;
  readonly recipient: Pick<Recipient, 'address' | 'tag'>;
}

/** A message that came, read and not yet stored. */
export interface Arrival {
  /** Empty for a null sender. */
  readonly envelopeFrom: string;
  readonly taken: readonly TakenRecipient[];
  readonly raw: Buffer;
  readonly mail: ReceivedMail;
  /** `contentDigest` of the message. */
  readonly digest: string;
  /** The results of SPF, DKIM and DMARC; absent where they were not checked. */
  readonly authentication?: ReceivedItem['authentication'];
  /** The verdict of SpamAssassin; absent where it was not asked. */
  readonly spam?: ReceivedItem['spam'];
}

/** The services that storing a message calls. */
export interface StoreDeps extends ContentDeps {
  readonly engine: Pick<Engine, 'spawnTogether'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The part of a message that its rows hold, and lists show. */
export interface ReceivedSummary {
  readonly from: string | null;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string | null;
  readonly date: string | null;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
}

/** The envelope sender as the client wrote it, which may be anything (RFC 5321 4.5.3.1.3 allows 256 octets). */
const LONGEST_PATH = 320;
/** Addresses of a message by which it is found. */
const MOST_KEYS = 250;

/** The form by which an address is compared; one that is none is compared as it is. */
export function addressKeyOf(address: string): string {
  const read = parseAddress(address);
  return isProblem(read) ? address.toLowerCase() : read.key;
}

const sha256 = (...texts: readonly string[]): string =>
  new Bun.CryptoHasher('sha256').update(texts.join('\n')).digest('hex');

const named = (mailboxes: readonly NamedMailbox[]): readonly string[] => mailboxes.map(formatAddress);

const summaryOf = ({ from, to, cc, replyTo, ...mail }: ReceivedMail): ReceivedSummary => ({
  from: from ? formatAddress(from) : null,
  ...{ to: named(to), cc: named(cc), replyTo: named(replyTo) },
  ...{ subject: mail.subject, date: mail.date, messageId: mail.messageId, inReplyTo: mail.inReplyTo },
});

/** Every address that a message names, in the form in which addresses are compared. */
const keysOf = ({ envelopeFrom, mail }: Arrival, recipient: string): readonly string[] => {
  const all = [mail.from ?? [], mail.replyTo, mail.to, mail.cc].flat().map(({ address }) => address);
  return [
    ...new Set(
      [recipient, envelopeFrom, ...all]
        .filter((one) => one !== '')
        .map((one) => addressKeyOf(storableText(one, LONGEST_PATH))),
    ),
  ].slice(0, MOST_KEYS);
};

/** Groups recipients by their workspace and environment. */
const ownersOf = (taken: readonly TakenRecipient[]): readonly (readonly TakenRecipient[])[] => [
  ...Map.groupBy(taken, ({ route: { workspaceId, livemode } }) => `${workspaceId} ${livemode}`).values(),
];

/**
 * Stores a message for each of its recipients, and returns their ids in the same order: all in one commit, or none. The same message to
 * the same recipient within a day is stored once, and has the id of the first time. @throws UnavailableError
 */
export async function storeArrival(deps: StoreDeps, arrival: Arrival): Promise<readonly string[]> {
  const { engine, clock } = deps;
  const now = clock.now();
  const packed = await packMessage(arrival.raw, arrival.mail);
  const contents = new Map<string, string>();
  for (const group of ownersOf(arrival.taken)) {
    const { workspaceId, livemode } = (group[0] as TakenRecipient).route;
    const id = await storeContent(deps, { workspaceId, livemode }, packed, now);
    contents.set(`${workspaceId} ${livemode}`, id);
  }
  const drafts = arrival.taken.map((one) => draftOf(arrival, one, contents, now));
  // One mailbox that RCPT names twice is one recipient.
  const once = [...new Map(drafts.map((draft) => [draft.once, draft])).values()];
  const spawned = await engine.spawnTogether(
    'received',
    once.map(({ request }) => request),
  );
  const ids = new Map<string, string>();
  const unused = new Set(contents.values());
  for (const [index, result] of spawned.entries()) {
    const draft = once[index] as (typeof once)[number];
    ids.set(draft.once, result.outcome === 'replayed' ? (JSON.parse(result.reply) as string) : draft.id);
    if (result.outcome === 'spawned') unused.delete(draft.request.columns.content_id);
  }
  // The pruner finds those that a crash leaves.
  if (unused.size > 0) await dropContents(deps.database, [...unused]).catch(() => {});
  return drafts.map(({ once: key, id }) => ids.get(key) ?? id);
}

function draftOf(
  arrival: Arrival,
  { route, recipient }: TakenRecipient,
  contents: ReadonlyMap<string, string>,
  now: number,
) {
  const { mail, envelopeFrom, raw, digest } = arrival;
  const { workspaceId, livemode } = route;
  const id = mintId('rcv', now);
  const fingerprint = sha256(mail.messageId ?? '', digest, addressKeyOf(recipient.address));
  const request = {
    ...{ id, workspaceId, livemode },
    input: { at: now, leaseMs: LEASE_MS, isKept: route.action === 'keep' },
    columns: {
      route_id: route.id,
      content_id: contents.get(`${workspaceId} ${livemode}`) ?? '',
      envelope_from: storableText(envelopeFrom, LONGEST_PATH),
      recipient: recipient.address,
      tag: recipient.tag,
      thread_id: `thr_${sha256(workspaceId, threadRoot(mail) ?? id).slice(0, 24)}`,
      is_automatic: mail.isAutomatic || envelopeFrom === '',
      address_keys: keysOf(arrival, recipient.address),
      summary: summaryOf(mail),
      authentication: arrival.authentication ?? null,
      spam: arrival.spam ?? null,
      size: raw.length,
    },
    claim: {
      key: `received ${fingerprint}`,
      scope: { workspaceId, livemode },
      ...{ fingerprint, status: 250, reply: () => JSON.stringify(id) },
    },
  };
  return { id, request, once: `${workspaceId} ${livemode} ${fingerprint}` };
}
