import type { Draft } from '../../../engine/machine/draft.ts';
import type { Kind } from '../../../engine/machine/kind.ts';
import type { Scope } from '../../../engine/machine/result.ts';
import { scopeKey } from '../visibility.ts';
import { type ByKind, FOR_OTHERS, Gathered, type News } from './gathered.ts';

/** How long what was told stays to be read: others look twice a second. */
const KEPT_MS = 10_000;
/** Characters that are told at once. Of environments that have no room in them only numbers are told. */
const MOST_TEXT = 262_144;

/** What one instance tells at once of several environments. */
export interface Told {
  readonly number: number;
  /** JSON of `{workspaceId, livemode, news}`. */
  readonly text: string;
}

interface Gathering {
  readonly scope: Scope;
  readonly gathered: Gathered;
  before: ByKind;
}

/** What this instance commits in environments that are watched elsewhere, until it is told. */
export class Outgoing {
  #gathering = new Map<string, Gathering>();
  /** What is being told. Where no reply came it is told again, under the same number, before anything else. */
  #pending: Told | null = null;
  #number = 0;
  /** What was told, oldest first, with the time at which it was. */
  #kept: { readonly number: number; readonly at: number }[] = [];

  constructor(
    private readonly instance: string,
    private readonly monotonic: () => number,
  ) {}

  /** Gathers for these environments from now on, and for no others. */
  follow(scopes: readonly Scope[]): void {
    this.#gathering = new Map(
      scopes.map((scope) => {
        const key = scopeKey(scope);
        const known = this.#gathering.get(key);
        return [
          key,
          known ?? { scope, gathered: new Gathered(this.instance, FOR_OTHERS), before: {} },
        ] as const;
      }),
    );
  }

  note(kind: Kind, drafts: readonly Draft[]): void {
    for (const draft of drafts) this.#gathering.get(scopeKey(draft.after))?.gathered.note(kind.name, draft);
  }

  /** What has to be told now; null for nothing. It stays the same until it was told. */
  next(): Told | null {
    if (this.#pending) return this.#pending;
    const entries = this.#take();
    if (entries.length === 0) return null;
    this.#pending = { number: this.#number++, text: `[${entries.join()}]` };
    return this.#pending;
  }

  /** It was told. */
  done({ number }: Told): void {
    this.#pending = null;
    this.#kept.push({ number, at: this.monotonic() });
  }

  /** The number up to which everything is old enough to be taken back; null for nothing. */
  over(): number | null {
    const edge = this.monotonic() - KEPT_MS;
    const over = this.#kept.findLast(({ at }) => at <= edge)?.number ?? null;
    if (over !== null) this.#kept = this.#kept.filter(({ number }) => number > over);
    return over;
  }

  #take(): readonly string[] {
    const entries: string[] = [];
    let room = MOST_TEXT;
    // Another one is the first each time, so that no busy environment takes the room of those behind it for ever.
    const all = [...this.#gathering.values()];
    const first = all.length === 0 ? 0 : this.#number % all.length;
    for (const gathering of [...all.slice(first), ...all.slice(0, first)]) {
      const { scope, gathered, before } = gathering;
      if (gathered.isEmpty) continue;
      const news: News = { before, ...gathered.tell() };
      const text = JSON.stringify({ ...scope, news });
      const entry = text.length <= room ? text : JSON.stringify({ ...scope, news: onlyNumbers(news) });
      if (entry === text) room -= text.length;
      gathering.before = sumOf(before, news.times);
      entries.push(entry);
    }
    return entries;
  }
}

const onlyNumbers = ({ times, before, changed }: News): News => ({
  ...{ times, before, moves: [], sample: [] },
  changed: Object.fromEntries(Object.keys(changed).map((kind) => [kind, null])),
});

/** The sums by kind. */
export function sumOf(one: ByKind, other: ByKind): ByKind {
  const sum: Record<string, number> = { ...one };
  for (const [kind, times] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + times;
  return sum;
}
