import {
  type LearnedReason,
  type SuppressionReason,
  WEAKEST_REASON,
} from '../../../../machines/email/rules.ts';
import { BatchedRead, type OwnedId, rowsByOwner } from '../../../platform/async/batched-read.ts';
import { type BatchLimits, COMMIT_LIMITS } from '../../../platform/async/batcher.ts';
import type { BodyStore } from '../../../platform/bodies/body-store.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { lookUp } from '../../../platform/db/distribution/terms.ts';
import {
  ACT_OF_STATUS,
  ACT_OF_SUPPRESSION,
  type Act,
  contactOfSql,
  forgottenKey,
  type LiveContact,
  readActs,
} from '../../suppressions/queries.ts';
import { type Content, type Envelope, wholeEnvelope } from '../accept/message.ts';
import { LIGHT, packedContent, unpackContent } from '../accept/packed-content.ts';
import { bringBack } from '../bodies/content-bodies.ts';

/** A message as it was accepted, with everything that sending it takes. */
export interface LiveMessage {
  readonly recipients: readonly string[];
  /** The keys of the recipients' addresses, in their order. */
  readonly recipient_keys: readonly string[];
  readonly domain_id: string | null;
  readonly campaign_id?: string | null;
  /** The audience that the recipient of a campaign can leave; known when its text is made. */
  readonly audience_id?: string;
  readonly subject: string;
  readonly envelope: Envelope;
  readonly content: Content;
}

/** A large message, whose content stays in the database until memory is free for it. */
export type MessageWithoutContent = Omit<LiveMessage, 'content'> & {
  readonly content: null;
  readonly size: number;
};

/** The emails of the ids in $1, of workspaces in $2. */
const each = (isOnNodes: boolean): string =>
  `from unnest($1::text[]) i(id) ${lookUp(isOnNodes, 'emails', 'm', 'm.id = i.id and m.workspace_id = any($2::text[])')}`;

/**
 * The size is the one that was stored on acceptance: measuring the content would cost PostgreSQL the reading
 * of it.
 */
const messagesStatement = (
  isOnNodes: boolean,
): string => `select m.id, m.recipients, m.recipient_keys, m.domain_id, m.campaign_id, m.subject, m.envelope, s.size,
  case when s.size <= ${LIGHT} then ${packedContent('m')} end as packed
${each(isOnNodes)}
cross join lateral (select (m.envelope->>'size')::integer as size) s`;

const contentsStatement = (isOnNodes: boolean): string =>
  `select m.id, ${packedContent('m')} as packed ${each(isOnNodes)}`;

const routingsStatement = (isOnNodes: boolean): string =>
  `select m.id, m.domain_id, m.campaign_id ${each(isOnNodes)}`;

/** Why a recipient gets no copy. */
export interface Withholding {
  readonly act: Act;
  /** True where only mail with a way to unsubscribe is kept away. */
  readonly isOfLists: boolean;
}

/**
 * A forgotten person's address is suppressed by its hash. A contact who is not subscribed gets no list mail,
 * as from campaigns, although no suppression is there any more. Each is looked up, since the planner expects
 * a hundred addresses and would read the whole table. Of several the one that stops more comes last, and
 * counts.
 */
const WITHHOLDINGS = `with asked as materialized (
  select * from json_to_recordset($1::text::json) as a(workspace_id text, key text, hash text)
)
select w.* from (
  select a.workspace_id, a.key as address_key, c.status, null as reason from asked a
    cross join lateral ${contactOfSql({ workspaceId: 'a.workspace_id', livemode: 'true', key: 'a.key' })} found
    cross join lateral (
      select c.status from contacts c
      where c.workspace_id = a.workspace_id and c.livemode and c.id = found.id and c.email_key = a.key limit 1
    ) c
  where c.status <> 'subscribed'
  union all
  select s.workspace_id, a.key, null, s.reason from asked a
    join suppressions s on s.workspace_id = a.workspace_id and s.address_key in (a.key, a.hash)
) w order by w.reason is not null, w.reason = '${WEAKEST_REASON}' desc`;

interface WithholdingRow {
  readonly workspace_id: string;
  readonly address_key: string;
  /** Of the contact; null in the row of a suppression. */
  readonly status: LearnedReason | null;
  readonly reason: SuppressionReason | null;
}

/** Bounds the memory of one statement by the number of messages that it asks for. */
const atOnce = (batchItems: number): BatchLimits => ({ ...COMMIT_LIMITS, batchItems });

type MessageRow = Omit<MessageWithoutContent, 'content'> & {
  readonly id: string;
  readonly packed: string | null;
};
type ContentRow = { readonly id: string; readonly packed: string };
/** The data that decides in which queue an email waits. */
export type Routing = Pick<LiveMessage, 'domain_id' | 'campaign_id'>;
type DomainRow = Routing & { readonly id: string };

interface Addressees {
  readonly workspaceId: string;
  readonly keys: readonly string[];
}

/** Reads what an attempt needs from the database. Attempts that begin together share a statement. */
export class LiveReader {
  readonly #messages: BatchedRead<OwnedId, MessageRow | null>;
  readonly #contents: BatchedRead<OwnedId, ContentRow | null>;
  readonly #domains: BatchedRead<OwnedId, DomainRow | null>;
  readonly #withholdings: BatchedRead<Addressees, ReadonlyMap<string, Withholding>>;
  readonly #acts: BatchedRead<LiveContact, Act | null>;

  constructor(
    database: Database,
    signer: Signer,
    private readonly bodies: BodyStore | null,
    /** True for a distributed database. */
    isOnNodes = false,
  ) {
    const rows = <Row extends { readonly id: string }>(sql: string) =>
      rowsByOwner((ids, workspaceIds) => database.query<Row>(sql, [ids, workspaceIds]));
    this.#messages = new BatchedRead(
      'live messages',
      rows<MessageRow>(messagesStatement(isOnNodes)),
      atOnce(16),
    );
    // Large contents have a separate batcher, so that no small message waits for them.
    this.#contents = new BatchedRead(
      'large messages',
      rows<ContentRow>(contentsStatement(isOnNodes)),
      atOnce(1),
    );
    this.#domains = new BatchedRead('domains of emails', rows<DomainRow>(routingsStatement(isOnNodes)));
    this.#withholdings = new BatchedRead('suppressions', (asked) =>
      readWithholdings(database, signer, asked),
    );
    this.#acts = readActs(database);
  }

  /**
   * The message, a large one without its content; null when retention has taken it. @throws UnavailableError
   */
  async message(email: OwnedId): Promise<LiveMessage | MessageWithoutContent | null> {
    const row = await this.#messages.ask(email);
    if (!row) return null;
    const { packed, envelope, ...rest } = row;
    const message = { ...rest, envelope: wholeEnvelope(rest.id, envelope) };
    return packed === null
      ? { ...message, content: null }
      : { ...message, content: await unpackContent(packed) };
  }

  /**
   * The content of a large message, wherever it lies; null when retention has taken it. @throws BodyLost,
   * UnavailableError
   */
  async content(email: OwnedId): Promise<Content | null> {
    const row = await this.#contents.ask(email);
    return row && bringBack(this.bodies, row.packed, 'whole');
  }

  /**
   * The domain and the campaign of an email; null when retention has taken the message. @throws
   * UnavailableError
   */
  routingOf(email: OwnedId): Promise<Routing | null> {
    return this.#domains.ask(email);
  }

  /** Those of the addresses (by key) that get no mail, or no list mail. @throws UnavailableError */
  withholdings(workspaceId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Withholding>> {
    return this.#withholdings.ask({ workspaceId, keys });
  }

  /** The act that keeps list mail from a contact; null where there is none. @throws UnavailableError */
  actOf(contact: LiveContact): Promise<Act | null> {
    return this.#acts.ask(contact);
  }
}

async function readWithholdings(
  database: Database,
  signer: Signer,
  asked: readonly Addressees[],
): Promise<(addressees: Addressees) => ReadonlyMap<string, Withholding>> {
  const addresses = asked.flatMap(({ workspaceId, keys }) =>
    keys.map((key) => ({ workspace_id: workspaceId, key, hash: forgottenKey(signer, workspaceId, key) })),
  );
  const rows = await database.query<WithholdingRow>(WITHHOLDINGS, [JSON.stringify(addresses)]);
  const byWorkspace = Map.groupBy(rows, ({ workspace_id }) => workspace_id);
  return ({ workspaceId, keys }) => {
    const found = (byWorkspace.get(workspaceId) ?? []).filter(({ address_key }) =>
      keys.includes(address_key),
    );
    return new Map(found.flatMap((row) => withholdingOf(row)));
  };
}

function withholdingOf({ address_key: key, status, reason }: WithholdingRow): [string, Withholding][] {
  const act = reason === null ? status && ACT_OF_STATUS[status] : ACT_OF_SUPPRESSION[reason];
  return act === null ? [] : [[key, { act, isOfLists: reason === null || reason === WEAKEST_REASON }]];
}
