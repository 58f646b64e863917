import type { Warning, WarningSubject } from '../../accounts/service-emails.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import type { CommitListener } from '../../engine/engine.ts';
import { stateOf } from '../../engine/machine/kind.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { enqueue, type ServiceEmailDeps } from './queue.ts';

const listOf = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ');

/** Actors for which no warning was sent. An actor that has recovered meanwhile needs none any more. */
const unwarned = ({ kind, from, to, where = 'true' }: Warning): string => `
  select a.id, a.workspace_id as "workspaceId", max(j.revision) as revision
  from ${kind.table} a join ${kind.journal} j on j.actor_id = a.id
  where a.state = '${to}' and ${where} and exists (
      select from json_array_elements(j.steps) s where s ->> 'to' = '${to}' and s ->> 'from' in (${listOf(from)}))
    and not exists (select from service_warnings w where w.actor_id = a.id and w.revision >= j.revision)
  group by a.id, a.workspace_id`;

interface WarnerDeps extends Pick<ServiceEmailDeps, 'database' | 'clock' | 'sealer'> {
  readonly logger: Pick<Logger, 'warn'>;
  readonly warnings: readonly Warning[];
}

/**
 * Sends one warning for each event. It reads the rows that the actors' own commits have left, so that no
 * crash can lose a warning: a minute later at most, on any instance. After a commit that needs one it looks
 * at once.
 */
export class Warner {
  #looking: Promise<void> = Promise.resolve();

  constructor(private readonly deps: WarnerDeps) {}

  /** The subscription to commits. */
  readonly hear: CommitListener = ({ name }, drafts) => {
    const warning = this.deps.warnings.find(({ kind }) => kind.name === name);
    if (!warning) return;
    const isWorthIt = drafts.some(
      ({ before, after }) =>
        before !== null && stateOf(before.snapshot) !== warning.to && stateOf(after.snapshot) === warning.to,
    );
    if (isWorthIt)
      this.look([warning]).catch((error: unknown) =>
        this.deps.logger.warn({ err: error }, 'A warning could not be stored; it is retried in a minute.'),
      );
  };

  /** SQL that is true when an actor needs a warning. */
  get asks(): string {
    return this.deps.warnings.map((warning) => `exists (${unwarned(warning)})`).join(' or ') || 'false';
  }

  /**
   * Writes the emails that no instance has written yet. One look at a time: the second finds the emails of
   * the first.
   * @throws UnavailableError
   */
  look(warnings: readonly Warning[] = this.deps.warnings): Promise<void> {
    const mine = this.#looking.then(() => this.#warn(warnings));
    this.#looking = mine.catch(() => {});
    return mine;
  }

  async #warn(warnings: readonly Warning[]): Promise<void> {
    const { database } = this.deps;
    for (const warning of warnings)
      for (const warned of await database.query<WarningSubject>(unwarned(warning))) {
        const email = await warning.email(database, warned);
        if (email) await enqueue(this.deps, email, warned);
      }
  }
}

/** Looks every minute for warnings that a crash has left unsent. */
export const warnerDuty = (warner: Warner): Duty => ({
  name: 'serviceWarner',
  pattern: '35 * * * * *',
  asks: () => `(${warner.asks})`,
  run: () => warner.look(),
});
