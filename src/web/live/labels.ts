import type { Kind } from '../../engine/machine/kind.ts';
import type { LabelSql } from '../../engine/presentation.ts';
import type { Database } from '../../platform/db/database.ts';
import { redacted } from './redact.ts';

/** The label of one actor in a list. Null where its kind has none: it is known by its id alone. */
export interface Label {
  readonly title: string | null;
  readonly facts: readonly string[];
}

const NOTHING: Label = { title: null, facts: [] };

/** The label of an actor. */
type LabelOf = (id: string) => Label;

/**
 * Reads the labels of actors that were found. They go through the same masks as contexts do: whatever a kind
 * puts in its label, no address and no path of a URL is shown.
 */
export async function readLabels(
  database: Database,
  { table }: Kind,
  label: LabelSql | undefined,
  ids: readonly string[],
): Promise<LabelOf> {
  if (!label || ids.length === 0) return () => NOTHING;
  const rows = await database.query<{ id: string; title: string | null; facts: readonly string[] }>(
    `select a.id, (${label.title}) as title, array_remove((${label.facts})::text[], null) as facts
     from ${table} a where a.id = any($1::text[])`,
    [[...ids]],
  );
  const labels = new Map(
    rows.map(({ id, title, facts }) => [id, redacted({ title, facts }) as Label] as const),
  );
  return (id) => labels.get(id) ?? NOTHING;
}
