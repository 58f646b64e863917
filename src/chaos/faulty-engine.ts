import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosSetting, Safeguard } from '../config/chaos-setting.ts';
import type { Database } from '../db/database.ts';
import { Engine, type EngineParts, type TellOptions } from '../engine/engine.ts';
import type { EventOfKind, KindName } from '../engine/kind.ts';
import type { ClaimOf, EventResultOf, SpawnResult, SpawnResultOf } from '../engine/result.ts';
import type { SpawnRequestOf } from '../engine/spawn-queue.ts';
import { type CrashAt, crashAt } from './crash.ts';
import { TorturedDatabase } from './faulty-database.ts';
import { faultyKinds } from './faulty-kinds.ts';
import { setClockWrong } from './wrong-clock.ts';

/** TORTURE is set, but the database is one that matters. */
export class NotBreakable extends Error {
  override readonly name = 'NotTorturable';

  constructor() {
    super('TORTURE is set, but this database was not made to be tortured. Unset it.');
  }
}

/** Between two commits that ought to be one. */
const APART_MS = 20;

const withoutReport = <C>({ report: _, ...options }: TellOptions<C> = {}): TellOptions<C> => options;

/** An engine whose crash points, dawdling performers and broken safeguards are those of the setting. */
class TorturedEngine extends Engine {
  constructor(
    parts: EngineParts,
    private readonly crash: CrashAt,
    private readonly broken: Safeguard | undefined,
  ) {
    super(parts);
  }

  override async spawn<Name extends KindName>(
    kind: Name,
    request: SpawnRequestOf<Name>,
  ): Promise<SpawnResultOf<Name>> {
    const spawned = super.spawn(kind, request);
    if (this.broken === 'commit' && kind === 'email' && !request.claim) {
      // The broken safeguard: an answer that does not wait for the commit.
      spawned.catch(() => {});
      const answer: SpawnResult = { outcome: 'spawned', state: 'sending', context: request.input };
      return answer as SpawnResultOf<Name>;
    }
    const answer = await spawned;
    this.crash('accept.answered');
    return answer;
  }

  override async tell<Name extends KindName>(
    kind: Name,
    id: string,
    event: EventOfKind<Name>,
    options?: TellOptions<ClaimOf<Name>>,
  ): Promise<EventResultOf<Name>> {
    // The broken safeguard: what an attempt came to is written before what was reported of it.
    const isApart = this.broken === 'report' && event.type === 'report.received';
    if (isApart) await pause(APART_MS);
    const told = await super.tell(kind, id, event, isApart ? withoutReport(options) : options);
    if (options?.scope) this.crash('command.answered');
    return told;
  }
}

/** Faults that a torture injects; nothing of it is in what it is put around. */
export interface Chaos {
  /** Looks at the database before anything is done with it. @throws when it is one that matters */
  prepare(database: Database): Promise<void>;
  createEngine(parts: EngineParts): Engine;
  /** The broken safeguard: the instance believes its own clock. */
  readonly trustsMachineClock: boolean;
}

/** What a torture of that setting puts around a service. */
export const chaosOf = (setting: ChaosSetting): Chaos => ({
  prepare: (database) => prepareTorture(setting, database),
  createEngine: (parts) => faultyEngine(setting, parts),
  trustsMachineClock: setting.break === 'clock',
});

/** Sets the machine's clock wrong, where that is asked for. @throws NotTorturable when the database does not hold the token */
async function prepareTorture(setting: ChaosSetting, database: Database): Promise<void> {
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
 * An engine to be tortured: what a torture needs is wrapped around the engine's parts, so that nothing of it is in the
 * engine itself.
 */
export function faultyEngine(setting: ChaosSetting, parts: EngineParts): Engine {
  const crash = crashAt(setting.crash);
  return new TorturedEngine(
    {
      ...parts,
      database: new TorturedDatabase(parts.database, crash, setting.break),
      kinds: faultyKinds(parts.kinds, setting, crash),
    },
    crash,
    setting.break,
  );
}
