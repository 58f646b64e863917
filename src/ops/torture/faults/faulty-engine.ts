import { setTimeout as pause } from 'node:timers/promises';
import { campaignInsertRule } from '../../../automation/campaigns/insert-rule.ts';
import type { Chaos } from '../../../engine/chaos.ts';
import { Engine, type EngineParts } from '../../../engine/engine.ts';
import type { EventOfKind, KindName } from '../../../engine/machine/kind.ts';
import type { ClaimOf, EventResultOf, SpawnResult, SpawnResultOf } from '../../../engine/machine/result.ts';
import type { TellOptions } from '../../../engine/runtime/running-kind.ts';
import type { SpawnRequestOf } from '../../../engine/runtime/spawn-queue.ts';
import type { ChaosSetting, Safeguard } from '../../../platform/config/settings/chaos-setting.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type CrashAt, crashAt } from './crash.ts';
import { FaultyDatabase } from './faulty-database.ts';
import { faultyKinds } from './faulty-kinds.ts';
import { setClockWrong } from './wrong-clock.ts';

/** TORTURE is set, but the database was not created by a chaos run. */
export class NotBreakable extends Error {
  override readonly name = 'NotBreakable';

  constructor() {
    super('TORTURE is set, but this database was not made for a torture run. Unset it.');
  }
}

/** Pause between two commits that ought to be one. */
const APART_MS = 20;

const withoutReport = <C>({ report: _, ...options }: TellOptions<C> = {}): TellOptions<C> => options;

/** The pause between an email of a campaign and its recipient's row, when each is a separate commit. */
const MARKED_AFTER_MS = 600;

const WITHOUT_RECIPIENT = { campaign_contact_id: null, campaign_turn: null, campaign_next_at: null };
/**
 * The writes for the recipient of an email, apart from the email. $1 the email, $2 its campaign, $3 the
 * contact.
 */
const [MARK, TALLY] = campaignInsertRule.writes.map((write) => write('admitted')) as [string, string];
const MARKED_LATER = `with admitted as (
  select $1::text as id, $2::text as campaign_id, $3::text as campaign_contact_id, null::timestamptz as campaign_next_at
), marked as (${MARK}) ${TALLY}`;

/** An engine with the crash points, delays and broken safeguards of the setting. */
class FaultyEngine extends Engine {
  constructor(
    parts: EngineParts,
    private readonly crash: CrashAt,
    private readonly broken: readonly Safeguard[],
    private readonly database: Database,
    private readonly isAlone: boolean,
  ) {
    super(parts);
  }

  override shareTimers(areShared: boolean): void {
    super.shareTimers(areShared && !this.isAlone);
  }

  override async spawn<Name extends KindName>(
    kind: Name,
    request: SpawnRequestOf<Name>,
  ): Promise<SpawnResultOf<Name>> {
    // The broken safeguard: the mail of a step does not carry the run and the visit.
    const isOfStep = this.broken.includes('step') && request.claim?.key.startsWith('flow ');
    // The broken safeguard: the recipient of a campaign is marked by a separate commit, which does not check
    // that the recipient still waits.
    const recipient = this.broken.includes('recipient') ? request.columns.campaign_contact_id : undefined;
    const spawned = super.spawn(kind, {
      ...request,
      ...(isOfStep ? { claim: undefined } : {}),
      ...(recipient ? { columns: { ...request.columns, ...WITHOUT_RECIPIENT } } : {}),
    });
    if (this.broken.includes('commit') && kind === 'email' && !request.claim) {
      // The broken safeguard: the answer does not wait for the commit.
      spawned.catch(() => {});
      const answer: SpawnResult = { outcome: 'spawned', state: 'sending', context: request.input };
      return answer as SpawnResultOf<Name>;
    }
    const answer = await spawned;
    if (recipient) await this.#mark(request, recipient);
    this.crash('accept.answered');
    return answer;
  }

  override spawnTogether<Name extends KindName>(
    kind: Name,
    requests: readonly SpawnRequestOf<Name>[],
  ): Promise<SpawnResultOf<Name>[]> {
    // The broken safeguard: a received message does not carry the fingerprint by which it is stored once.
    const isUnclaimed = this.broken.includes('received') && kind === 'received';
    return super.spawnTogether(
      kind,
      isUnclaimed ? requests.map((request) => ({ ...request, claim: undefined })) : requests,
    );
  }

  async #mark(
    { id = '', columns }: { readonly id?: string; readonly columns: Readonly<Record<string, unknown>> },
    contactId: unknown,
  ): Promise<void> {
    await pause(MARKED_AFTER_MS);
    await this.database.query(MARKED_LATER, [id, String(columns.campaign_id), String(contactId)]);
  }

  override async tell<Name extends KindName>(
    kind: Name,
    id: string,
    event: EventOfKind<Name>,
    options?: TellOptions<ClaimOf<Name>>,
  ): Promise<EventResultOf<Name>> {
    // The broken safeguard: the outcome of an attempt and the report about it are two commits.
    const isApart = this.broken.includes('report') && event.type === 'report.received';
    if (isApart) await pause(APART_MS);
    const result = await super.tell(kind, id, event, isApart ? withoutReport(options) : options);
    if (options?.scope) this.crash('command.answered');
    return result;
  }
}

/** The wrappers for a setting. */
export const chaosOf = (setting: ChaosSetting): Chaos => ({
  prepare: (database) => verifyToken(setting, database),
  createEngine: (parts) => faultyEngine(setting, parts),
  trustsMachineClock: setting.break?.includes('clock') ?? false,
});

/**
 * Also sets the machine's clock wrong when the setting asks for it. @throws NotBreakable when the database
 * lacks the token
 */
async function verifyToken(setting: ChaosSetting, database: Database): Promise<void> {
  const [table] = await database.query<{ there: boolean }>(
    `select to_regclass('torture') is not null as there`,
  );
  const tokens = table?.there
    ? await database.query('select 1 as one from torture where token = $1', [setting.token])
    : [];
  if (tokens.length === 0) throw new NotBreakable();
  if (setting.clockOffsetMs) setClockWrong(setting.clockOffsetMs);
}

/**
 * Wraps the engine's parts, so that the engine itself has no code for chaos but the options of its
 * statements.
 */
export function faultyEngine(setting: ChaosSetting, parts: EngineParts): Engine {
  const crash = crashAt(setting.crash);
  const { break: broken = [] } = setting;
  return new FaultyEngine(
    {
      ...parts,
      database: new FaultyDatabase(parts.database, crash),
      statements: {
        withoutRevisionCheck: broken.includes('revision'),
        withoutStoredReplies: broken.includes('key'),
      },
      keepingFaults: {
        withoutHeartbeat: broken.includes('heartbeat'),
        withoutLowWater: broken.includes('low-water'),
      },
      kinds: faultyKinds(parts.kinds, setting, crash),
    },
    crash,
    broken,
    parts.database,
    setting.isAlone ?? false,
  );
}
