import type { CrashPoint } from '../../../platform/config/settings/chaos-setting.ts';
import type {
  Database,
  DatabaseSession,
  Parameter,
  QueryOptions,
  ReadOptions,
} from '../../../platform/db/database.ts';
import type { WriteRefusal } from '../../../platform/db/refused-writes.ts';
import type { CrashAt } from './crash.ts';

/** The engine's named statements, by the first part of the crash points around each. */
const CRASH_POINTS_OF: Readonly<Record<string, 'accept' | 'commit' | 'claim'>> = {
  spawn: 'accept',
  commit: 'commit',
  claim: 'claim',
};

/**
 * The database of an engine under chaos: it passes the crash points before, during and after each named
 * statement.
 */
export class FaultyDatabase implements Database {
  constructor(
    private readonly inner: Database,
    private readonly crash: CrashAt,
  ) {}

  get kind(): Database['kind'] {
    return this.inner.kind;
  }

  async query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: QueryOptions,
  ): Promise<Row[]> {
    const statement = CRASH_POINTS_OF[options?.name ?? ''];
    if (statement === undefined) return await this.inner.query<Row>(text, parameters, options);
    this.crash(`${statement}.before` satisfies CrashPoint);
    const sent = this.inner.query<Row>(text, parameters, options);
    this.crash(`${statement}.sent`);
    const rows = await sent;
    this.crash(`${statement}.committed`);
    return rows;
  }

  get refusedWrite(): WriteRefusal | null {
    return this.inner.refusedWrite;
  }

  get worked(): number {
    return this.inner.worked;
  }

  script(text: string): Promise<void> {
    return this.inner.script(text);
  }

  read<Result>(run: Parameters<Database['read']>[0], options?: ReadOptions): Promise<Result> {
    return this.inner.read(run as never, options);
  }

  session(onNotification?: (payload: string) => void): DatabaseSession | null {
    return this.inner.session(onNotification);
  }

  ping(): Promise<number> {
    return this.inner.ping();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
