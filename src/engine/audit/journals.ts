import { KEPT_WRITES } from '../duties/retention.ts';
import type { Kind } from '../machine/kind.ts';
import type { Session } from './session.ts';

/** The summary of one actor's journal. */
export interface JournalOfActor {
  readonly id: string;
  readonly entries: number;
  readonly first: number;
  readonly last: number;
  /** State after its last step; null when no entry has a step. */
  readonly state: string | null;
  /** Steps that do not begin at the end of the previous one. */
  readonly leaps: number;
}

const statement = (
  journal: string,
): string => `select e.id, e.entries, e.first, e.last, s.state, coalesce(s.leaps, 0) as leaps from (
  select actor_id as id, count(*)::integer as entries, min(revision) as first, max(revision) as last
  from ${journal} where actor_id > $1 and actor_id <= $2 group by actor_id
) e left join (
  select id, max("to") filter (where back = 1) as state,
    count(*) filter (where "from" is distinct from before)::integer as leaps
  from (
    select j.actor_id as id, s.step->>'from' as "from", s.step->>'to' as "to",
      lag(s.step->>'to') over (partition by j.actor_id order by j.revision, s.place) as before,
      row_number() over (partition by j.actor_id order by j.revision desc, s.place desc) as back
    from ${journal} j cross join lateral json_array_elements(j.steps) with ordinality s(step, place)
    where j.actor_id > $1 and j.actor_id <= $2
  ) steps group by id
) s on s.id = e.id`;

/** The journals of the actors between two ids, the first excluded. */
export async function journalsBetween(
  session: Session,
  { journal }: Kind,
  after: string,
  to: string,
): Promise<ReadonlyMap<string, JournalOfActor>> {
  const rows = await session.query<JournalOfActor>(statement(journal), [after, to]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Compares an actor with its journal: a sentence for each fault. */
export function journalFaults(
  { state, revision }: { readonly state: string; readonly revision: number },
  journal: JournalOfActor | undefined,
): string[] {
  if (!journal) return ['has no journal'];
  const faults: string[] = [];
  const { entries, first, last } = journal;
  // Retention keeps only the last writes of actors without an end, such as a domain that was checked for
  // years.
  const isCut = first > 1 && entries >= KEPT_WRITES;
  if ((first !== 1 && !isCut) || last !== revision || entries !== last - first + 1)
    faults.push(`revision ${revision}, but its journal has ${entries} from ${first} to ${last}`);
  if (journal.state !== state) faults.push(`is ${state}, but its journal ends in ${journal.state}`);
  if (journal.leaps > (isCut ? 1 : 0)) faults.push(`${journal.leaps} steps begin where none ended`);
  return faults;
}
