import type { Safeguard } from '../config/chaos-setting.ts';
import type { Database, Parameter, ReadOptions } from '../db/database.ts';
import type { CrashAt } from './crash.ts';

/** What the engine's statements are recognised by. */
const STATEMENTS = {
  accept: /\b(?:fresh|admitted) as (?:not )?materialized\b/,
  commit: /\blocked as materialized\b/,
  claim: /\bdue as materialized\b/,
} as const;

const statementOf = (text: string): keyof typeof STATEMENTS | null =>
  (Object.keys(STATEMENTS) as (keyof typeof STATEMENTS)[]).find((name) => STATEMENTS[name].test(text)) ??
  null;

/** The database of a tortured engine: it passes crash points, and forgets what is broken of a statement. */
export class TorturedDatabase implements Database {
  constructor(
    private readonly inner: Database,
    private readonly crash: CrashAt,
    private readonly broken: Safeguard | undefined,
  ) {}

  get kind(): Database['kind'] {
    return this.inner.kind;
  }

  async query<Row extends object>(
    text: string,
    parameters?: readonly Parameter[],
    options?: { deadlineMs?: number },
  ): Promise<Row[]> {
    const statement = statementOf(text);
    if (statement === null) return await this.inner.query<Row>(text, parameters, options);
    this.crash(`${statement}.before`);
    const sent = this.inner.query<Row>(this.#textOf(statement, text), parameters, options);
    this.crash(`${statement}.sent`);
    const rows = await sent;
    this.crash(`${statement}.committed`);
    return rows;
  }

  get lacksSpace(): boolean {
    return this.inner.lacksSpace;
  }

  script(text: string): Promise<void> {
    return this.inner.script(text);
  }

  read<Result>(run: Parameters<Database['read']>[0], options?: ReadOptions): Promise<Result> {
    return this.inner.read(run as never, options);
  }

  ping(): Promise<number> {
    return this.inner.ping();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  #textOf(statement: keyof typeof STATEMENTS, text: string): string {
    if (this.broken === 'revision' && statement === 'commit') return withoutRevisionCheck(text);
    if (this.broken === 'key' && statement === 'accept') return withoutClaims(text);
    return text;
  }
}

/** Without the revision check a commit writes over whatever is there; the journal's key must not stop it either. */
function withoutRevisionCheck(text: string): string {
  const unchecked = text
    .replace(' and a.revision = i.revision', '')
    .replace(
      /(insert into \w+ \(actor_id, revision, commit_tag, steps\)\s+select [^)]*?)(\n\))/,
      '$1 on conflict do nothing$2',
    );
  if (!unchecked.includes('on conflict do nothing\n)') || unchecked.includes('a.revision = i.revision'))
    throw new Error(
      'The commit statement has changed: the torture cannot break its revision check any more.',
    );
  return unchecked;
}

/** An acceptance that stores no reply for its idempotency key: whoever asks again is accepted again. */
function withoutClaims(text: string): string {
  const unclaimed = text.replace(
    /(insert into idempotency_keys [^)]*\)\s+select [^;]*? where )idem_key is not null\b/,
    '$1false',
  );
  if (unclaimed === text)
    throw new Error('The statement of acceptance has changed: the torture cannot break its claims any more.');
  return unclaimed;
}
