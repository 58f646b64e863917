import { BatchedRead } from '../../platform/async/batched-read.ts';
import { LruMap } from '../../platform/async/lru-map.ts';
import type { PlanName } from '../../platform/config/plans.ts';
import type { Database } from '../../platform/db/database.ts';
import { hashOfKey } from './api-key.ts';
import type { Permission } from './permissions.ts';
import type { KeyPrincipal } from './principal.ts';
import { ACTIVE_KEYS, Recollection, TERMS } from './recollection.ts';

/** The API documents `lastUsedAt` as approximate: it is written at most this often. */
const REFRESH_MS = 15 * 60 * 1_000;
/**
 * The time for which a key is remembered. It only saves look-ups: every use of a remembered key is checked.
 */
const REMEMBERED_MS = 60_000;
/** Each entry has at most a kilobyte. */
const MOST_REMEMBERED = 2_000;

/** A join with the unnested hashes in place of the list took PostgreSQL three times as long for one key. */
const LOOK_UP = `select k.hash, k.id, k.workspace_id, k.livemode, k.context, w.plan, w.default_from, w.default_reply_to,
  (extract(epoch from k.last_used_at) * 1000)::float8 as last_used_at, ${TERMS} as terms
from ${ACTIVE_KEYS} where k.hash = any($1::text[])`;

/** Several instances may report the same key, so a time is only moved forwards, and only when it is stale. */
const NOTE_USE = `update api_keys k set last_used_at = $2::timestamptz from unnest($1::text[]) u(id)
where k.id = u.id and (k.last_used_at is null or k.last_used_at < $3::timestamptz)`;

interface KeyRow {
  readonly hash: string;
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly context: { readonly permissions: readonly Permission[] };
  readonly plan: PlanName;
  readonly default_from: string | null;
  readonly default_reply_to: string | null;
  readonly last_used_at: number | null;
  readonly terms: string;
}

interface CachedPrincipal {
  readonly principal: KeyPrincipal & { readonly terms: string };
  /** Monotonic milliseconds. */
  readonly until: number;
}

/**
 * Finds the principal of a key in the database at every request: a revocation takes effect on the next
 * request, on every instance. Requests that arrive together share one look-up, which keeps it cheap under
 * load. Remembered keys serve only requests whose commit checks them.
 */
export class KeyAuthenticator {
  readonly #principals: BatchedRead<string, KeyPrincipal | null>;
  /** The keys used since the last flush. Only keys that exist are added, which bounds the set. */
  readonly #used = new Set<string>();
  /** By the hash of the key. */
  readonly #remembered = new LruMap<string, CachedPrincipal>({ entries: MOST_REMEMBERED });

  constructor(
    private readonly database: Database,
    private readonly clock: { now(): number; monotonic(): number },
    /**
     * False where the commit cannot check remembered keys: where tables are distributed, keys and emails are
     * on different nodes.
     */
    private readonly remembers = true,
  ) {
    this.#principals = new BatchedRead('authentication', (hashes) => this.#look(hashes));
  }

  /** The principal of a key; null when there is no such active key. @throws UnavailableError */
  authenticate = (key: string): Promise<KeyPrincipal | null> => this.#principals.ask(hashOfKey(key));

  /** The principal of a key as found recently, to be checked by the commit; null for an unknown key. */
  remembered = (key: string): KeyPrincipal | null => {
    const known = this.#remembered.get(hashOfKey(key));
    if (!known || known.until <= this.clock.monotonic()) return null;
    return { ...known.principal, recollection: new Recollection(known.principal.terms) };
  };

  /** Stores the use of keys. A background duty calls it, so that no request waits for the write. */
  async noteUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const ids = [...this.#used];
    this.#used.clear();
    const now = this.clock.now();
    await this.database.query(NOTE_USE, [
      ids,
      new Date(now).toISOString(),
      new Date(now - REFRESH_MS).toISOString(),
    ]);
  }

  async #look(hashes: readonly string[]): Promise<(hash: string) => KeyPrincipal | null> {
    const rows = await this.database.query<KeyRow>(LOOK_UP, [[...new Set(hashes)]]);
    const principals = new Map(rows.map((row) => [row.hash, principalOf(row)]));
    const stale = this.clock.now() - REFRESH_MS;
    for (const row of rows) if ((row.last_used_at ?? 0) < stale) this.#used.add(row.id);
    if (this.remembers) this.#remember(hashes, principals);
    return (hash) => principals.get(hash) ?? null;
  }

  #remember(asked: readonly string[], found: ReadonlyMap<string, CachedPrincipal['principal']>): void {
    for (const hash of asked) this.#remembered.delete(hash);
    const until = this.clock.monotonic() + REMEMBERED_MS;
    for (const [hash, principal] of found) this.#remembered.set(hash, { principal, until });
  }
}

const principalOf = (row: KeyRow): CachedPrincipal['principal'] => ({
  kind: 'key',
  id: row.id,
  workspaceId: row.workspace_id,
  livemode: row.livemode,
  permissions: row.context.permissions,
  plan: row.plan,
  senderDefaults: { from: row.default_from, replyTo: row.default_reply_to },
  terms: row.terms,
});
