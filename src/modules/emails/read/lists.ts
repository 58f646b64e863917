import { and, desc, eq, gte, isNotNull, lt, lte, notExists, type SQL, sql } from 'drizzle-orm';
import type { Principal } from '../../../auth/principal.ts';
import { type Database, type Orm, PREPARED } from '../../../db/database.ts';
import { lowestIdAt } from '../../../db/ids.ts';
import { emailDue, emails, emailTurns, instances } from '../../../db/schema/emails.ts';
import type { Filters } from './filters.ts';
import type { EmailItemRow } from './views.ts';

/** The ids that the emails of a statement lie between: those of other days are left out before their partitions are opened. */
export interface Bounds {
  readonly lowest: string | null;
  /** Exclusive. */
  readonly below: string | null;
}

/**
 * The latest turn of each email, for a lateral join. It is given the bounds of the emails themselves, since nothing else tells the
 * planner that the turns of an email lie in the partition of the same day.
 */
export const latestTurn = (orm: Orm, { lowest, below }: Bounds) =>
  orm
    .select({
      revision: emailTurns.revision,
      state: emailTurns.state,
      context: emailTurns.context,
      lastEvent: emailTurns.lastEvent,
      failureReason: emailTurns.failureReason,
      scheduledAt: emailTurns.scheduledAt,
      sentAt: emailTurns.sentAt,
      deliveredAt: emailTurns.deliveredAt,
    })
    .from(emailTurns)
    .where(
      and(
        eq(emailTurns.emailId, emails.id),
        lowest === null ? undefined : gte(emailTurns.emailId, lowest),
        below === null ? undefined : lt(emailTurns.emailId, below),
      ),
    )
    .orderBy(desc(emailTurns.revision))
    .limit(1)
    .as('latest');

type Latest = ReturnType<typeof latestTurn>;

const stateNow = (latest: Latest): SQL<string> => sql<string>`coalesce(${latest.state}, ${emails.state})`;

/** The columns of an email's item. */
export const itemColumns = (latest: Latest) => ({
  id: emails.id,
  livemode: emails.livemode,
  state: stateNow(latest),
  lastEvent: latest.lastEvent,
  failureReason: latest.failureReason,
  bornScheduledAt: emails.scheduledAt,
  turn: latest.revision,
  scheduledAt: latest.scheduledAt,
  sentAt: latest.sentAt,
  deliveredAt: latest.deliveredAt,
  subject: emails.subject,
  domainId: emails.domainId,
  templateId: emails.templateId,
  campaignId: emails.campaignId,
  envelope: emails.envelope,
});

/** A row of these columns as an item takes it: before its first turn an email is scheduled for what it was born with. */
export const itemRowOf = <
  Row extends { turn: number | null; scheduledAt: Date | null; bornScheduledAt: Date | null },
>(
  row: Row,
) => ({ ...row, scheduledAt: row.turn === null ? row.bornScheduledAt : row.scheduledAt });

/**
 * Emails lie in one partition a day. The newest two days nearly always hold a whole page, and take 0.5 ms to plan and 0.3 ms to
 * run; all days of a month take 1.7 and 0.9.
 */
const NEAR_MS = 2 * 86_400_000;

/** Emails in flight that wait for the clock are found by the index of wake times: they wake within their lease of twelve minutes. */
const IN_FLIGHT = sql`${emailDue.wakeAt} < now() + interval '1 hour'`;

/** True when so many emails of all workspaces are due that reading the newest ones finds those in flight as fast. */
export async function isCrowded(database: Database, most: number): Promise<boolean> {
  const beyond = await database.read(
    (orm) =>
      orm
        .select({ id: emailDue.id })
        .from(emailDue)
        .where(IN_FLIGHT)
        .orderBy(emailDue.wakeAt)
        .offset(most)
        .limit(1),
    PREPARED,
  );
  return beyond.length > 0;
}

/** Where the emails of a state are found: among those that end rarely, or among those that wait. */
const PLACES = {
  ended: { table: emailTurns, id: emailTurns.emailId },
  waiting: { table: emailDue, id: emailDue.id },
} as const;

/** The same list of emails, begun with the emails by workspace or with those of a state. */
export function listsOf(database: Database, caller: Principal, filters: Filters, limit: number) {
  const { status, ofEmail, within, range, begins } = filters;
  const near = lowestIdAt('em', begins - NEAR_MS);
  const own = [
    eq(emails.workspaceId, caller.workspaceId),
    eq(emails.livemode, caller.livemode),
    ...within(emails.id),
  ];

  // Each combination of filters makes another SQL text, so only the unfiltered forms are prepared.
  const prepared = status === undefined && ofEmail.length === 0;
  const newest = async (lowest: string | null): Promise<EmailItemRow[]> => {
    const rows = await database.read(
      (orm) => {
        const latest = latestTurn(orm, { lowest, below: range.below });
        return orm
          .select(itemColumns(latest))
          .from(emails)
          .leftJoinLateral(latest, sql`true`)
          .where(
            and(
              ...own,
              ...ofEmail,
              status === undefined ? undefined : eq(stateNow(latest), status),
              lowest === null ? undefined : gte(emails.id, lowest),
            ),
          )
          .orderBy(desc(emails.id))
          .limit(limit + 1);
      },
      { prepared },
    );
    return rows.map(itemRowOf);
  };

  const nthEmail = async (count: number, lowest: string | null): Promise<string | null> => {
    const [row] = await database.read(
      (orm) =>
        orm
          .select({ id: emails.id })
          .from(emails)
          .where(and(...own, lowest === null ? undefined : gte(emails.id, lowest)))
          .orderBy(desc(emails.id))
          .offset(count - 1)
          .limit(1),
      PREPARED,
    );
    return row?.id ?? null;
  };

  const ofState = (place: keyof typeof PLACES): readonly SQL[] => {
    const { table, id } = PLACES[place];
    return [
      eq(table.workspaceId, caller.workspaceId),
      eq(table.livemode, caller.livemode),
      eq(table.state, status ?? ''),
      ...within(id),
    ];
  };

  /** Reads the emails of ids that were found in the wanted state, which they may have left since: it is told as it was found. */
  const itemsOf = async (ids: readonly string[]): Promise<EmailItemRow[]> => {
    const [first, last] = [ids[0], ids.at(-1)];
    if (first === undefined || last === undefined) return [];
    const bounds = { lowest: last, below: `${first}~` };
    const rows = await database.read((orm) => {
      const latest = latestTurn(orm, bounds);
      return orm
        .select(itemColumns(latest))
        .from(emails)
        .leftJoinLateral(latest, sql`true`)
        .where(
          and(
            lte(emails.id, first),
            gte(emails.id, last),
            sql`${emails.id} = any(${sql.param(ids)}::text[])`,
          ),
        )
        .orderBy(desc(emails.id));
    }, PREPARED);
    return rows.map((row) => ({ ...itemRowOf(row), state: status ?? row.state }));
  };

  type Place = keyof typeof PLACES;
  const idsInState = async (
    place: Place,
    leading: SQL | undefined,
    lowest: string | null,
  ): Promise<readonly string[]> => {
    const { table, id } = PLACES[place];
    const rows = await database.read((orm) => {
      // A subquery for each email opens the partition of its day alone; a join reads all of them (95 ms of 100,000), and `exists`
      // would be made one.
      const isAsked = orm
        .select({ found: sql`true` })
        .from(emails)
        .where(and(eq(emails.id, id), ...ofEmail))
        .limit(1);
      return orm
        .select({ id })
        .from(table)
        .where(
          and(
            ...ofState(place),
            leading,
            ofEmail.length === 0 ? undefined : sql`(${isAsked})`,
            lowest === null ? undefined : gte(id, lowest),
          ),
        )
        .orderBy(desc(id))
        .limit(limit + 1);
    });
    return rows.map((row) => row.id);
  };

  /** Those that instances keep, which the clock knows nothing of: they lie above the lowest mark, and have had no turn. */
  const keptIds = async (most: number): Promise<readonly string[]> => {
    const [kept] = await database.read(
      (orm) => orm.select({ mark: sql<string | null>`min(${instances.lowWater})` }).from(instances),
      PREPARED,
    );
    // By its value and not by a subquery, the mark leaves out the partitions of other days before they are opened.
    const mark = kept?.mark;
    if (mark == null) return [];
    const rows = await database.read((orm) => {
      const recent = orm
        .select({ id: emails.id, state: emails.state, keptBy: emails.keptBy })
        .from(emails)
        .where(and(...own, ...ofEmail, gte(emails.id, mark)))
        .orderBy(desc(emails.id))
        .limit(most)
        .as('recent');
      const turns = orm
        .select({ found: sql`true` })
        .from(emailTurns)
        .where(and(eq(emailTurns.emailId, recent.id), gte(emailTurns.emailId, mark)));
      return orm
        .select({ id: recent.id })
        .from(recent)
        .where(and(eq(recent.state, status ?? ''), isNotNull(recent.keptBy), notExists(turns)))
        .orderBy(desc(recent.id))
        .limit(limit + 1);
    });
    return rows.map((row) => row.id);
  };

  return {
    newest,
    newestOfAll: async () => {
      const rows = await newest(near);
      return rows.length > limit ? rows : newest(null);
    },
    nthNewest: async (count: number) => (await nthEmail(count, near)) ?? (await nthEmail(count, null)),
    inState: (place: Place) => async (lowest: string | null) =>
      itemsOf(await idsInState(place, undefined, lowest)),
    inFlight: async (most: number) => {
      const [waiting, kept] = await Promise.all([idsInState('waiting', IN_FLIGHT, null), keptIds(most)]);
      const ids = [...new Set([...waiting, ...kept])].sort().reverse();
      return itemsOf(ids.slice(0, limit + 1));
    },
    nthInState: (place: Place) => async (count: number) => {
      const { table, id } = PLACES[place];
      const [row] = await database.read(
        (orm) =>
          orm
            .select({ id })
            .from(table)
            .where(and(...ofState(place)))
            .orderBy(desc(id))
            .offset(count - 1)
            .limit(1),
        PREPARED,
      );
      return row?.id ?? null;
    },
  };
}
