import type { Draft } from '../../../engine/machine/draft.ts';
import type { Kind } from '../../../engine/machine/kind.ts';
import type { Scope } from '../../../engine/machine/result.ts';
import { scopeKey } from '../visibility.ts';
import { type ByKind, FOR_OTHERS, type News, TransitionBuffer } from './gathered.ts';

/** The time for which news stays readable; other instances look twice a second. */
const KEPT_MS = 10_000;
/** The most characters of one message. Environments that do not fit are reported as numbers only. */
const MOST_TEXT = 262_144;

/** One message of an instance about several environments. */
export interface NumberedNews {
  readonly number: number;
  /** JSON of `{workspaceId, livemode, news}`. */
  readonly text: string;
}

interface ScopeNews {
  readonly scope: Scope;
  readonly gathered: TransitionBuffer;
  before: ByKind;
}

/** The unreported commits of this instance in environments that are watched elsewhere. */
export class OutgoingNews {
  #gathering = new Map<string, ScopeNews>();
  /** The message that is being written. Without a reply it is written again first, under the same number. */
  #pending: NumberedNews | null = null;
  #number = 0;
  /** The written messages, oldest first, with their times. */
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
          known ?? { scope, gathered: new TransitionBuffer(this.instance, FOR_OTHERS), before: {} },
        ] as const;
      }),
    );
  }

  note(kind: Kind, drafts: readonly Draft[]): void {
    for (const draft of drafts) this.#gathering.get(scopeKey(draft.after))?.gathered.note(kind.name, draft);
  }

  /** The next message; null when there is nothing to report. It stays the same until it is written. */
  next(): NumberedNews | null {
    if (this.#pending) return this.#pending;
    const entries = this.#take();
    if (entries.length === 0) return null;
    this.#pending = { number: this.#number++, text: `[${entries.join()}]` };
    return this.#pending;
  }

  /** Notes that the message was written. */
  done({ number }: NumberedNews): void {
    this.#pending = null;
    this.#kept.push({ number, at: this.monotonic() });
  }

  /** The number up to which all news is old enough to be deleted; null for none. */
  over(): number | null {
    const edge = this.monotonic() - KEPT_MS;
    const over = this.#kept.findLast(({ at }) => at <= edge)?.number ?? null;
    if (over !== null) this.#kept = this.#kept.filter(({ number }) => number > over);
    return over;
  }

  #take(): readonly string[] {
    const entries: string[] = [];
    let room = MOST_TEXT;
    // Another one is the first each time, so that no busy environment takes the room of those behind it for
    // ever.
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
  times,
  before,
  moves: [],
  sample: [],
  changed: Object.fromEntries(Object.keys(changed).map((kind) => [kind, null])),
});

export function sumOf(one: ByKind, other: ByKind): ByKind {
  const sum: Record<string, number> = { ...one };
  for (const [kind, times] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + times;
  return sum;
}
