import type { Database } from '../db/database.ts';
import { allowedOn, dayOf, endOf, type WarmUp } from '../transport/warm-up.ts';
import { type Diagnosis, fine, skipped, warning } from './diagnosis.ts';

const CHECK = 'Warm-up';
/** Domains that are looked at, the youngest first: old ones have been warmed up. */
const MOST_DOMAINS = 1_000;
/** Warm-ups that are named. */
const NAMED = 3;

const READ = `select d.name, t.warm_ups, coalesce((select json_object_agg(w.provider, w.claimed) from warm_up_days w
    where w.domain_id = t.domain_id and w.day = (clock_timestamp() at time zone 'UTC')::date), '{}') as claimed
from domain_transports t join domains d on d.id = t.domain_id
where json_array_length(t.warm_ups) > 0 and d.state <> 'removed' order by d.id desc limit ${MOST_DOMAINS}`;

interface Row {
  readonly name: string;
  readonly warm_ups: readonly WarmUp[];
  readonly claimed: Readonly<Record<string, number>>;
}

/** A warm-up on its present day. */
interface Today {
  readonly text: string;
  /** The part of the day's room that instances have claimed; 1: used up. */
  readonly used: number;
}

/** Tells how much of this day each warm-up has left: mail that waits for room is no fault, and looks like one. */
export async function diagnoseWarmUps(database: Database, now: number): Promise<Diagnosis> {
  const [schema] = await database.query<{ there: boolean }>(
    `select to_regclass('warm_up_days') is not null as there`,
  );
  if (!schema?.there) return skipped(CHECK, 'There are no domains yet.');
  const rows = await database.query<Row>(READ);
  const all = rows.flatMap(({ name, warm_ups, claimed }) =>
    warm_ups.flatMap((warmUp) => today(name, warmUp, claimed[warmUp.provider] ?? 0, now) ?? []),
  );
  if (all.length === 0) return fine(CHECK, 'None is under way: no domain has a limit for a day.');
  const usedUp = all.filter(({ used }) => used >= 1);
  const named = (ones: readonly Today[]): string => {
    const texts = ones.toSorted((one, other) => other.used - one.used).map(({ text }) => text);
    const more = ones.length > NAMED ? `; and ${ones.length - NAMED} more` : '';
    return `${texts.slice(0, NAMED).join('; ')}${more}`;
  };
  if (usedUp.length === 0) return fine(CHECK, `${named(all)}.`);
  return warning(
    CHECK,
    `${named(usedUp)}. What exceeds the day waits, by itself, for one that has room.`,
    'Wait for midnight UTC, or change the schedule with PATCH /v1/domains/{id} and `warmUps`; an empty list ends it.',
  );
}

/** Null where it is over. */
function today(name: string, warmUp: WarmUp, claimed: number, now: number): Today | null {
  const allowed = allowedOn(warmUp, now);
  if (allowed === null) return null;
  const most = allowed.toLocaleString('en');
  const of = Math.min(allowed, claimed).toLocaleString('en');
  return {
    text: `${name} by ${warmUp.provider}: ${of} of ${most} recipients on day ${dayOf(warmUp, now) + 1} of ${warmUp.perDay.length} (until ${endOf(warmUp).slice(0, 10)})`,
    used: claimed / allowed,
  };
}
