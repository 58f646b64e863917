import type { Engine } from '../../engine/engine.ts';
import { addressKeyOf, LONGEST_PATH } from '../../mail/received/address-keys.ts';
import { threadRoot } from '../../mail/received/header.ts';
import type { ReceivedMail } from '../../mail/received/received-mail.ts';
import { mintId } from '../../platform/db/ids.ts';
import { storableText } from '../../platform/db/storable.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Clock } from '../../platform/time/clock.ts';
import type { ReceivingRoute, Recipient } from '../inbound-routes/queries.ts';
import { type ContentDeps, dropContents, packMessage, storeContent } from './contents.ts';
import { LEASE_MS } from './kind.ts';
import type { ReceivedItem } from './model.ts';
import { LARGEST_SUMMARY, type ReceivedSummary, summaryOf } from './summary.ts';

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

/** About the octets of a row in a statement: its summary, three addresses, and the rest. */
const ROW_OCTETS = LARGEST_SUMMARY + 3 * LONGEST_PATH + 1_024;

const sha256 = (...texts: readonly string[]): string =>
  new Bun.CryptoHasher('sha256').update(texts.join('\n')).digest('hex');

/** Groups recipients by their workspace and environment. */
const ownersOf = (taken: readonly TakenRecipient[]): readonly (readonly TakenRecipient[])[] => [
  ...Map.groupBy(taken, ({ route: { workspaceId, livemode } }) => `${workspaceId} ${livemode}`).values(),
];

/**
 * Stores a message for each of its recipients, and returns their ids in the same order: all in one commit, or none. The same message to
 * the same recipient within a day is stored once, and has the id of the first time. @throws UnavailableError
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
  const drafts = arrival.taken.map((one) => draftOf(arrival, summary.kept, one, contents, now));
  // One mailbox that RCPT names twice is one recipient.
  const once = [...new Map(drafts.map((draft) => [draft.once, draft])).values()];
  const ids = new Map<string, string>();
  const unused = new Set(contents.values());
  let missing: readonly Draft[] = once;
  for (let tries = 0; missing.length > 0 && tries < MOST_TRIES; tries++)
    missing = await spawnMissing(deps, missing, ids, unused);
  // The pruner finds those that a crash leaves.
  if (unused.size > 0) await dropContents(deps.database, [...unused]).catch(() => {});
  if (missing.length > 0) throw new UnavailableError('The message was deleted while it came again.');
  return drafts.map(({ once: key, id }) => ids.get(key) ?? id);
}

/** A message that is deleted each time that it comes again is left to the next delivery. */
const MOST_TRIES = 20;

const PRESENT = 'select id from received where id = any($1::text[])';

/**
 * Stores those that were not stored within a day, and returns those that were, and are deleted or forgotten since: each is stored under
 * the key of the deleted one.
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

function draftOf(
  arrival: Arrival,
  summary: ReceivedSummary,
  { route, recipient }: TakenRecipient,
  contents: ReadonlyMap<string, string>,
  now: number,
) {
  const { mail, envelopeFrom, raw } = arrival;
  const { workspaceId, livemode } = route;
  const id = mintId('rcv', now);
  const fingerprint = sha256(mail.messageId ?? '', mail.digest, addressKeyOf(recipient.address));
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
      address_keys: [addressKeyOf(recipient.address)],
      summary,
      authentication: arrival.authentication ?? null,
      spam: arrival.spam ?? null,
      size: raw.length,
    },
    bytes: ROW_OCTETS,
    claim: {
      key: `received ${fingerprint}`,
      scope: { workspaceId, livemode },
      ...{ fingerprint, status: 250, reply: () => JSON.stringify(id) },
    },
  };
  return { id, request, once: `${workspaceId} ${livemode} ${fingerprint}` };
}
