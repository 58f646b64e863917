import { Batcher, COMMIT_LIMITS } from '../../platform/async/batcher.ts';
import type { Database } from '../../platform/db/database.ts';
import { NUMBERED_TIME } from '../../platform/db/numbered-time.ts';
import { codeOf, TOOK_TOO_LONG } from '../../platform/db/sqlstate.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

/** A content as its row holds it. */
export interface ContentRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** In base64. */
  readonly parsed: string;
  /** In base64; null where the octets lie in the body store. */
  readonly raw: string | null;
  readonly rawKey: string | null;
  /** The moment from which the octets in the body store may be collected; null without them. */
  readonly until: string | null;
  readonly addressKeys: readonly string[];
}

const COLUMNS = 'id, workspace_id, livemode, parsed, raw, raw_key, address_keys';
/**
 * A content with octets in the body store is stored in time, or not at all: later they may have been
 * collected, since nothing referred to them. The time is read once the transaction has its number, as for
 * emails (emails/bodies/insert-rule.ts).
 */
const store = (rows: string): string => `insert into received_contents (${COLUMNS})
select a.id, a.workspace_id, a.livemode, decode(a.parsed, 'base64'), decode(a.raw, 'base64'), a.raw_key, a.address_keys
from ${rows}
where exists (select from workspaces w where w.id = a.workspace_id and w.archived_at is null and w.erase_at is null)
  and (a.until is null or a.until > ${NUMBERED_TIME})
returning id`;

const STORE_ALL = store(`json_to_recordset($1::text::json) as a(
  id text, workspace_id text, livemode boolean, parsed text, raw text, raw_key text, until timestamptz, address_keys text[]
)`);
/** A message may have 32 MiB, which are not put into JSON as well. */
const STORE_ONE =
  store(`(values ($1::text, $2::text, $3::boolean, $4::text, $5::text, $6::text, $7::timestamptz, $8::text[]))
  as a(id, workspace_id, livemode, parsed, raw, raw_key, until, address_keys)`);

interface PendingContent {
  readonly row: ContentRow;
  readonly settle: (isStored: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** About what each address costs beside its letters: two indexes and an array hold it. */
const KEY_OCTETS = 64;
/**
 * Statements under way with a content that fills one alone. They take seconds, and others do not wait behind
 * them.
 */
const LARGE_AT_ONCE = 3;
/**
 * Contents of a batch that may each take too long alone. Behind them the database is at fault, and each
 * further try would take as long.
 */
const MOST_SLOW = 1;

/** The size of a content in its statement. */
const octetsOf = ({ parsed, raw, addressKeys }: ContentRow): number =>
  addressKeys.reduce((sum, key) => sum + key.length + KEY_OCTETS, parsed.length + (raw?.length ?? 0));

/**
 * Writes the contents of messages that come at the same time with one commit: that of a single one costs more
 * than its row.
 */
export class ContentWriter {
  readonly #batcher: Batcher<PendingContent>;
  readonly #large: Batcher<PendingContent>;

  constructor(private readonly database: Pick<Database, 'query'>) {
    this.#batcher = new Batcher(
      'received contents',
      (batch) => this.#write(batch, this.#batcher),
      COMMIT_LIMITS,
    );
    this.#large = new Batcher(
      'large received contents',
      (batch) => this.#write(batch, this.#large),
      COMMIT_LIMITS,
      LARGE_AT_ONCE,
    );
  }

  /**
   * False where the workspace is archived, or the octets lay outside for too long. @throws UnavailableError
   */
  write(row: ContentRow): Promise<boolean> {
    const bytes = octetsOf(row);
    const lane = bytes > COMMIT_LIMITS.batchBytes ? this.#large : this.#batcher;
    // The inbound port bounds the octets that are under way, so that a large message is never too much.
    return new Promise((settle, fail) => lane.admit({ row, settle, fail }, bytes));
  }

  /** Stores a batch, and divides it where one content may be at fault: that one fails alone. */
  async #write(batch: readonly PendingContent[], lane: Batcher<PendingContent>): Promise<void> {
    const left = [batch];
    let slow = 0;
    for (let part = left.pop(); part; part = left.pop()) {
      try {
        const stored = await this.#store(part);
        for (const { row, settle } of part) settle(stored.has(row.id));
      } catch (error) {
        const isSlow = codeOf(error) === TOOK_TOO_LONG;
        if (isSlow && part === batch) lane.ease(batch.length);
        if (isSlow && part.length === 1) slow++;
        if (error instanceof UnavailableError && (!isSlow || slow > MOST_SLOW)) {
          for (const { fail } of [part, ...left].flat()) fail(error);
          return;
        }
        const middle = part.length >> 1;
        if (middle === 0) for (const { fail } of part) fail(error);
        else left.push(part.slice(middle), part.slice(0, middle));
      }
    }
  }

  async #store(batch: readonly PendingContent[]): Promise<ReadonlySet<string>> {
    const [only, ...others] = batch.map(({ row }) => row);
    const ids = await (only && others.length === 0
      ? this.database.query<{ id: string }>(STORE_ONE, [
          only.id,
          only.workspaceId,
          only.livemode,
          only.parsed,
          only.raw,
          only.rawKey,
          only.until,
          only.addressKeys,
        ])
      : this.database.query<{ id: string }>(STORE_ALL, [
          JSON.stringify(batch.map(({ row }) => recordOf(row))),
        ]));
    return new Set(ids.map(({ id }) => id));
  }
}

const recordOf = ({ workspaceId, rawKey, addressKeys, ...row }: ContentRow) => ({
  ...row,
  workspace_id: workspaceId,
  raw_key: rawKey,
  address_keys: addressKeys,
});
