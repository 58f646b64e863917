import type { Kind } from '../machine/kind.ts';

/** The columns that every table of actors has, in the order in which statements write them. */
export const ACTOR_COLUMNS = [
  'id',
  'workspace_id',
  'livemode',
  'state',
  'context',
  'timers',
  'wake_at',
  'revision',
  'machine_version',
] as const;

/**
 * SQL that inserts actors: `values` has an expression for each column that is not the machine's own
 * beginning, which comes from the relation `template`. `brought` is what the answer brings along, over the
 * new actor's columns.
 */
export function insertActors(
  { table }: Pick<Kind, 'table'>,
  template: string,
  values: Readonly<Record<'id' | 'workspace_id' | 'livemode', string>> & Readonly<Record<string, string>>,
  from: string,
  brought?: string,
): string {
  const all: Record<string, string> = {
    ...Object.fromEntries(
      ACTOR_COLUMNS.map((name) => [name, name === 'revision' ? '1' : `${template}.${name}`]),
    ),
    ...values,
  };
  return `insert into ${table} (${Object.keys(all).join(', ')})
    select ${Object.values(all).join(', ')} from ${from}
    returning id, workspace_id, livemode${brought === undefined ? '' : `, ${brought} as brought`}`;
}

/** The column of a kind's table that names an actor's definition, where the kind has any. */
export const definitionColumn = ({ hasDefinitions }: Kind): readonly string[] =>
  hasDefinitions === true ? ['definition_id'] : [];

/** An actor as it is read; when it wakes follows from its timers. */
export const readColumns = (kind: Kind): string =>
  [...ACTOR_COLUMNS.filter((name) => name !== 'wake_at'), ...definitionColumn(kind)]
    .map((name) => `a.${name}`)
    .join(', ');
