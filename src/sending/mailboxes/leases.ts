import type { Database } from '../../platform/db/database.ts';
import { isoOf } from '../../platform/time/clock.ts';
import type { MailboxRow } from './queries.ts';

/** A mailbox that a reader of this instance holds, and its settings. */
export interface ClaimedMailbox
  extends Pick<
    MailboxRow,
    | 'id'
    | 'workspaceId'
    | 'livemode'
    | 'host'
    | 'port'
    | 'security'
    | 'username'
    | 'folder'
    | 'sealed'
    | 'failures'
    | 'problem'
  > {
  readonly uidValidity: number | null;
  readonly lastUid: number;
  /** Epoch milliseconds. */
  readonly since: number | null;
  /** The name of this reading: after a change of the settings none of it is noted. */
  readonly holder: string;
}

/** The silence of an instance after which another reads its mailboxes. */
const LEASE_MS = 30_000;

const ALIVE = 'join workspaces w on w.id = m.workspace_id and w.archived_at is null and w.erase_at is null';

const IS_DUE = (now: string): string =>
  `not m.is_paused and m.next_at <= ${now} and coalesce(m.held_until < ${now}, true)`;

/** SQL: true while some mailbox waits for an instance. */
export const someDue = (now: string): string =>
  `exists (select from mailboxes m ${ALIVE} where ${IS_DUE(now)})`;

const CLAIM = `update mailboxes m set holder = gen_random_uuid()::text, held_until = $1::timestamptz + interval '${LEASE_MS} milliseconds' from (
  select m.id from mailboxes m ${ALIVE} where ${IS_DUE('$1::timestamptz')} order by m.next_at limit $2::integer for update of m skip locked
) due where m.id = due.id
returning m.id, m.workspace_id as "workspaceId", m.livemode, m.host, m.port, m.security, m.username, m.folder, m.sealed, m.failures, m.problem,
  m.uid_validity::float8 as "uidValidity", m.last_uid::float8 as "lastUid", (extract(epoch from m.since) * 1000)::float8 as since, m.holder`;

const RENEW = `update mailboxes m set held_until = $2::timestamptz + interval '${LEASE_MS} milliseconds'
from workspaces w where w.id = m.workspace_id and w.archived_at is null and m.holder = any($1::text[]) and not m.is_paused
returning m.holder`;

const CONNECTED = `update mailboxes set state = 'connected', problem = null, state_at = $3::timestamptz
where id = $1 and holder = $2 and state <> 'connected'`;

const FREE = `update mailboxes set holder = null, held_until = null, state = $3, problem = $4, failures = $5::integer, next_at = $6::timestamptz,
  state_at = case when state = $3 then state_at else $7::timestamptz end
where id = $1 and holder = $2`;

const LEAVE = 'update mailboxes set holder = null, held_until = null where id = $1 and holder = $2';

type Lease = Pick<ClaimedMailbox, 'id' | 'holder'>;

/** The mailboxes that the readers of this instance hold: one reader reads each. */
export class Leases {
  constructor(
    private readonly database: Database,
    private readonly now: () => number,
  ) {}

  /** Takes mailboxes that are not held. @throws UnavailableError */
  claim(most: number): Promise<readonly ClaimedMailbox[]> {
    return this.database.query<ClaimedMailbox>(CLAIM, [isoOf(this.now()), most]);
  }

  /**
   * Renews those of these holders, and returns the holders that still hold one: a change of the settings ends
   * each. @throws UnavailableError
   */
  async renew(holders: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ holder: string }>(RENEW, [[...holders], isoOf(this.now())]);
    return new Set(rows.map(({ holder }) => holder));
  }

  /** Notes that a mailbox is open. @throws UnavailableError */
  connected({ id, holder }: Lease): Promise<unknown> {
    return this.database.query(CONNECTED, [id, holder, isoOf(this.now())]);
  }

  /** Gives a mailbox back that cannot be read, to be tried again later. @throws UnavailableError */
  failed({ id, holder }: Lease, problem: string, failures: number, waitMs: number): Promise<unknown> {
    const at = this.now();
    return this.database.query(FREE, [
      id,
      holder,
      'failing',
      problem,
      failures,
      isoOf(at + waitMs),
      isoOf(at),
    ]);
  }

  /** Gives a mailbox back to any instance. @throws UnavailableError */
  leave({ id, holder }: Lease): Promise<unknown> {
    return this.database.query(LEAVE, [id, holder]);
  }
}
