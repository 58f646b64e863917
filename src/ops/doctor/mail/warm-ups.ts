import type { WarmUp } from '../../../mail/transport/warm-up.ts';
import type { Database } from '../../../platform/db/database.ts';
import { WARM_UP_DAY } from '../../../sending/domains/queries.ts';
import { type WarmUpDay, warmUpView } from '../../../sending/domains/views.ts';
import { type Diagnosis, fine, skipped, warning } from '../diagnosis.ts';

const CHECK = 'Warm-up';
/** Warm-ups that are named. */
const NAMED = 3;
/** Domains that are looked at, the youngest first: old ones have been warmed up. */
const MOST_DOMAINS = 1_000;

const READ = `select domains.name, t.warm_ups as "warmUps", ${WARM_UP_DAY} as day
from domain_transports t join domains on domains.id = t.domain_id
where json_array_length(t.warm_ups) > 0 and domains.state <> 'removed' order by domains.id desc limit ${MOST_DOMAINS}`;

interface Row {
  readonly name: string;
  readonly warmUps: readonly WarmUp[];
  readonly day: WarmUpDay;
}

/** A warm-up on its present day. */
interface Today {
  readonly text: string;
  /** The part of the day's room that instances have claimed; 1: used up. */
  readonly used: number;
}

/**
 * Tells how much of this day each warm-up has left: mail that waits for room is no fault, and looks like one.
 */
export async function diagnoseWarmUps(database: Database): Promise<Diagnosis> {
  const [schema] = await database.query<{ there: boolean }>(
    `select to_regclass('warm_up_days') is not null as there`,
  );
  if (!schema?.there) return skipped(CHECK, 'There are no domains yet.');
  const all = (await database.query<Row>(READ)).flatMap(({ name, warmUps, day }) =>
    warmUps.flatMap((warmUp) => todayOf(name, warmUpView(warmUp, day)) ?? []),
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
    `${named(usedUp)}. Mail over the daily limit waits for a day with room.`,
    'Wait for midnight UTC, or change the schedule with PATCH /v1/domains/{id} and `warmUps`; an empty list ends it.',
  );
}

/** Null where it is over. */
function todayOf(
  name: string,
  { provider, perDay, endsAt, today }: ReturnType<typeof warmUpView>,
): Today | null {
  if (today === null) return null;
  const { day, allowed, claimed } = today;
  const of = `${claimed.toLocaleString('en')} of ${allowed.toLocaleString('en')} recipients`;
  return {
    text: `${name} by ${provider}: ${of} on day ${day} of ${perDay.length} (until ${endsAt.slice(0, 10)})`,
    used: claimed / allowed,
  };
}
