import { and, eq, inArray, isNotNull } from 'drizzle-orm';
import type { Principal } from '../../http/auth/principal.ts';
import type { WorkspaceTerms } from '../../http/auth/sessions/sessions.ts';
import { PLANS, type PlanName } from '../../platform/config/plans.ts';
import type { Database } from '../../platform/db/database.ts';
import { usageTotals, workspaces } from '../../platform/db/schema/workspaces.ts';
import { type FontName, stackOf } from '../../platform/text/fonts.ts';
import { periodOf } from '../../platform/time/clock.ts';
import { languagesOf } from '../member-language.ts';
import { MUTABLE_EMAILS } from '../service-emails.ts';
import { DOMAINS_PERIOD } from '../usage/queries.ts';
import type { WorkspaceView } from './model.ts';

/**
 * The age in milliseconds up to which a process uses its cached data of a sender. Changes by this process
 * take effect at once, those by another instance, and of a workspace, after this time.
 */
export const SENDER_KNOWN_MS = 1_000;

export interface WorkspaceReader {
  readonly database: Database;
  /** The base of the logo's address, without a trailing slash. */
  readonly publicUrl: string;
}

const monthStart = (at: number, monthsAhead = 0): string => {
  const date = new Date(at);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsAhead)).toISOString();
};

/**
 * Reads the members that a principal takes from its workspace; null when it does not exist, or is archived.
 * @throws UnavailableError
 */
export async function findTerms(database: Database, workspaceId: string): Promise<WorkspaceTerms | null> {
  const [row] = await database.query<{ plan: PlanName; default_from: string; default_reply_to: string }>(
    'select plan, default_from, default_reply_to from workspaces where id = $1 and archived_at is null',
    [workspaceId],
  );
  return row
    ? { plan: row.plan, senderDefaults: { from: row.default_from, replyTo: row.default_reply_to } }
    : null;
}

/**
 * The brand of a workspace in its emails and on its pages for recipients; null for parts that are not set.
 */
export interface Brand {
  readonly name: string;
  readonly address: string | null;
  /** An http or https URL. */
  readonly website: string | null;
  /** An address of this service that serves an image and never changes its content. */
  readonly logoUrl: string | null;
  /** Such as `#0f766e`. */
  readonly colour: string | null;
  /** A list of fonts as CSS has it. */
  readonly fontFamily: string | null;
}

type StoredBrand = Omit<Brand, 'logoUrl' | 'fontFamily'> & {
  readonly logo: string | null;
  readonly font_family: FontName | null;
};

/** The path of logos, before the name of the file. */
export const LOGO_PATH = '/logos/';

/**
 * Reads the brand of a workspace, for templates and for pages that recipients see; null when there is no such
 * workspace. @throws UnavailableError
 */
export async function findBrand(
  database: Database,
  workspaceId: string,
  publicUrl: string,
): Promise<Brand | null> {
  const [row] = await database.query<StoredBrand>(
    'select name, address, website, logo, colour, font_family from workspaces where id = $1',
    [workspaceId],
  );
  if (!row) return null;
  const { logo, font_family, ...said } = row;
  return { ...said, logoUrl: logoUrlOf(logo, publicUrl), fontFamily: stackOf(font_family) };
}

const logoUrlOf = (logo: string | null, publicUrl: string): string | null =>
  logo === null ? null : `${publicUrl}${LOGO_PATH}${logo}`;

/** Reads the caller's workspace: its settings, plan, limits and present usage. */
export async function readWorkspace(
  { database, publicUrl }: WorkspaceReader,
  { workspaceId, plan }: Principal,
  now: number,
): Promise<WorkspaceView> {
  const periods = { month: periodOf(true, now), day: periodOf(false, now), domains: DOMAINS_PERIOD };
  const [[workspace], used] = await Promise.all([
    database.read((orm) => orm.select().from(workspaces).where(eq(workspaces.id, workspaceId))),
    database.read((orm) =>
      orm
        .select({ livemode: usageTotals.livemode, period: usageTotals.period, used: usageTotals.used })
        .from(usageTotals)
        .where(
          and(eq(usageTotals.workspaceId, workspaceId), inArray(usageTotals.period, Object.values(periods))),
        ),
    ),
  ]);
  if (!workspace) throw new Error('A key belongs to a workspace that does not exist.');
  const unitsOf = (period: string): number => used.find((row) => row.period === period)?.used ?? 0;
  const { logo, colour, fontFamily, address, website } = workspace;
  return {
    id: workspace.id,
    name: workspace.name,
    defaultFrom: workspace.defaultFrom,
    defaultReplyTo: workspace.defaultReplyTo,
    branding: { logoUrl: logoUrlOf(logo, publicUrl), colour, fontFamily, address, website },
    timeZone: workspace.timeZone,
    ...languagesOf(workspace.language, null),
    serviceEmails: Object.fromEntries(
      MUTABLE_EMAILS.map((kind) => [kind, !workspace.mutedEmails.includes(kind)]),
    ) as WorkspaceView['serviceEmails'],
    plan,
    limits: { ...PLANS[plan] },
    usage: {
      periodStart: monthStart(now),
      periodEnd: monthStart(now, 1),
      emailsSent: unitsOf(periods.month),
      testSendsToday: unitsOf(periods.day),
      domains: unitsOf(periods.domains),
    },
    createdAt: workspace.createdAt.toISOString(),
    updatedAt: (workspace.updatedAt ?? workspace.createdAt).toISOString(),
  };
}

/** A workspace in the list of a person or of the operator. */
export interface ListedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  /** The role of the person; null in the operator's list. */
  readonly role: string | null;
  readonly archived: boolean;
}

/** The workspaces of an account, or all of them for the operator, oldest first. @throws UnavailableError */
export const listWorkspaces = (
  database: Database,
  accountId: string | null,
): Promise<readonly ListedWorkspace[]> =>
  database.query<ListedWorkspace>(
    `select w.id, w.name, w.plan, m.role, w.archived_at is not null as archived
     from workspaces w left join members m on m.workspace_id = w.id and m.account_id = $1
     where w.erase_at is null and ($1::text is null or m.id is not null) order by w.id`,
    [accountId],
  );

/** Deleted workspaces whose rows are not all removed yet, for the operator. @throws UnavailableError */
export const listDeletedWorkspaces = (
  database: Database,
): Promise<readonly Pick<ListedWorkspace, 'id' | 'name' | 'plan'>[]> =>
  database.read((orm) =>
    orm
      .select({ id: workspaces.id, name: workspaces.name, plan: workspaces.plan })
      .from(workspaces)
      .where(isNotNull(workspaces.eraseAt))
      .orderBy(workspaces.eraseAt, workspaces.id),
  );
