import type { EmailContext } from '../../../machines/email/context.ts';
import type { EmailState } from '../../../machines/email/machine.ts';
import { periodOf } from '../../platform/time/clock.ts';
import type { Findings } from './findings.ts';
import type { RetentionBounds, Session } from './session.ts';

const BATCH = 1_000;
/** `2026-11` or `2026-11-20`; other periods count other things than emails. */
const OF_EMAILS = /^\d{4}-\d\d(-\d\d)?$/;

const USAGE = `select workspace_id, livemode, period, used from usage_totals
where (workspace_id, livemode, period) > ($1, $2, $3) order by workspace_id, livemode, period limit ${BATCH}`;

interface UsageRow {
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly period: string;
  readonly used: number;
}

/** The states in which an email has returned its unit, because it was never sent. */
const GIVES_BACK: Readonly<Record<EmailState, boolean>> = {
  scheduled: false,
  queued: false,
  sending: false,
  deferred: false,
  sent: false,
  delivered: false,
  failed: false,
  cancelled: true,
};

/** The columns of an email that counting needs. */
export interface CountedEmail {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly state: EmailState;
  readonly context: EmailContext;
}

/**
 * Adds up what the emails took from each workspace's periods. Its size depends on workspaces and periods
 * alone.
 */
export class QuotaLedger {
  readonly #units = new Map<string, number>();
  /** Those that were cancelled when their period was over, or by a test clock. */
  readonly #late = new Map<string, number>();

  constructor(
    private readonly removed: RetentionBounds,
    private readonly since: number,
  ) {}

  count({ workspaceId, livemode, state, context: { acceptedAt, at, testClockId } }: CountedEmail): void {
    const period = periodOf(livemode, acceptedAt);
    const key = keyOf(workspaceId, livemode, period);
    const isLate = testClockId !== undefined || periodOf(livemode, at) !== period;
    if (!GIVES_BACK[state]) addOne(this.#units, key);
    // Earlier versions returned no unit to a period that was over, nor to one on a test clock. The two can no
    // longer be told apart.
    else if (isLate) addOne(this.#late, key);
  }

  /** Compares the sums with the usage table. */
  async compare(session: Session, findings: Findings): Promise<void> {
    let last: UsageRow = { workspace_id: '', livemode: false, period: '', used: 0 };
    for (;;) {
      const rows = await session.query<UsageRow>(USAGE, [last.workspace_id, last.livemode, last.period]);
      for (const row of rows) this.#compare(row, findings);
      const end = rows.at(-1);
      if (!end || rows.length < BATCH) break;
      last = end;
    }
    for (const [key, units] of this.#units)
      if (this.#isWhole(key)) findings.wrong('quotas', key, `${units} emails were accepted, none is counted`);
  }

  #compare({ workspace_id, livemode, period, used }: UsageRow, findings: Findings): void {
    const key = keyOf(workspace_id, livemode, period);
    if (!this.#isWhole(key)) return;
    findings.look('quotas', 1);
    const units = this.#units.get(key) ?? 0;
    const most = units + (this.#late.get(key) ?? 0);
    this.#units.delete(key);
    if (used < units || used > most)
      findings.wrong('quotas', key, `${used} are counted, ${units} were accepted and kept`);
  }

  /** True when every email of the period still exists and was read. */
  #isWhole(key: string): boolean {
    const period = key.slice(key.lastIndexOf(' ') + 1);
    if (!OF_EMAILS.test(period)) return false;
    const begins = Date.parse(period.length === 7 ? `${period}-01` : period);
    const { test, live } = this.removed;
    return begins >= this.since && begins > (period.length === 7 ? live : test);
  }
}

const addOne = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

const keyOf = (workspaceId: string, livemode: boolean, period: string): string =>
  `${workspaceId} ${livemode ? 'live' : 'test'} ${period}`;
