/** Changes that are not saved. */
export interface Draft {
  /** The page that it was typed on, and the resource: a page that was loaded again is another one. */
  readonly key: string;
  readonly account: string;
  /** Workspace, environment and resource. */
  readonly place: string;
  /** When it was written last (epoch milliseconds). */
  readonly at: number;
  /** The `updatedAt` of the resource that it was written upon. */
  readonly updatedAt: string;
  /** The members that were changed. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The sums of what these members were before. */
  readonly sums: Readonly<Record<string, string>>;
  /** When the session was seen to have ended (epoch milliseconds); absent while its account is signed in. */
  readonly endedAt?: number;
}

/**
 * As many are kept, the latest ones, for so long, and none that is larger: 20 of a million characters are 40
 * MB of a disk at most.
 */
export const MOST_DRAFTS = 20;
export const LARGEST_DRAFT = 1_000_000;
export const KEPT_MS = 30 * 86_400_000;
/** After the end of a session its account has so long to sign in and take up what was typed. */
export const KEPT_AFTER_END_MS = 86_400_000;

/**
 * About the characters that changes are in JSON. To write them is work between two keys; texts are most of
 * them.
 */
export function lengthOf(values: Draft['values']): number {
  let length = 0;
  for (const value of Object.values(values))
    length += typeof value === 'string' ? value.length : (JSON.stringify(value)?.length ?? 0);
  return length;
}

/** The drafts that are kept no longer. */
export function outdatedIn(
  drafts: readonly Pick<Draft, 'key' | 'at' | 'endedAt'>[],
  now: number,
): readonly string[] {
  const latestFirst = drafts.toSorted((a, b) => b.at - a.at);
  return latestFirst
    .filter(
      ({ at, endedAt }, index) =>
        index >= MOST_DRAFTS ||
        at < now - KEPT_MS ||
        (endedAt !== undefined && endedAt <= now - KEPT_AFTER_END_MS),
    )
    .map(({ key }) => key);
}
