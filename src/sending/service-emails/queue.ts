import { createHash } from 'node:crypto';
import { and, eq, inArray, lte } from 'drizzle-orm';
import { MUTABLE_EMAILS, type ServiceEmail } from '../../accounts/service-emails.ts';
import { findBrand } from '../../accounts/workspace/queries.ts';
import type { Duty } from '../../engine/duties/duty.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { accounts, members } from '../../platform/db/schema/accounts.ts';
import { serviceEmailReaders } from '../../platform/db/schema/service.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { type PageLanguage, pageLanguageAmong } from '../../platform/text/language.ts';
import { type Clock, DAY_MS } from '../../platform/time/clock.ts';
import type { DirectMail } from '../emails/commands.ts';
import { contentOf } from './contents.ts';
import { htmlOf, textOf } from './layout.ts';

export interface ServiceEmailDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly logger: Logger;
  readonly publicUrl: string;
  readonly send: DirectMail;
}

const PURPOSE = 'an email of the service';
/** The age at which a warning is outdated. */
const WARNING_LASTS_MS = 3 * DAY_MS;
const AT_ONCE = 10;
const PRODUCT = 'Posthorn';

/** The most members who get a warning. */
const MOST_WARNED = 50;

/**
 * Invitations that one address gets in a day, so that a member who revokes and makes them again cannot fill a
 * mailbox.
 */
const MOST_INVITATIONS = 3;

/** $1 the hash of an address, $2 now. Answers a row where one more may leave. */
const COUNT = `insert into service_email_readers as c (reader, since, mails) values ($1, $2::text::timestamptz, 1)
on conflict (reader) do update set
  mails = case when c.since <= excluded.since - interval '1 day' then 1 else c.mails + 1 end,
  since = case when c.since <= excluded.since - interval '1 day' then excluded.since else c.since end
where c.mails < ${MOST_INVITATIONS} or c.since <= excluded.since - interval '1 day'
returning reader`;

const ENQUEUE = `insert into service_emails (id, workspace_id, sealed, next_at, expires_at)
select r.id, $2, r.sealed, $3::text::timestamptz, $4::text::timestamptz
from json_to_recordset($1::text::json) as r(id text, sealed text)`;

/** The same for a warning, which one of several instances stores. $5 the actor, $6 its revision. */
const WARN = `with warned as (
  insert into service_warnings as w (actor_id, workspace_id, revision) values ($5, $2, $6::integer)
  on conflict (actor_id) do update set revision = excluded.revision where w.revision < excluded.revision returning 1
)
${ENQUEUE} cross join warned`;

/**
 * Writes an email down for each of its readers; nothing where the workspace does without, or for the fourth
 * invitation of an address in a day. A warning of an actor (`of`) is written once for each of its revisions.
 * @throws UnavailableError
 */
export async function enqueue(
  { database, clock, sealer }: Pick<ServiceEmailDeps, 'database' | 'clock' | 'sealer'>,
  email: ServiceEmail,
  of: { readonly id: string; readonly revision: number } | null = null,
): Promise<void> {
  const readers = await readersOf(database, email);
  // A warning without readers is stored all the same, so that it is never sent later.
  if (readers.length === 0 && of === null) return;
  const { workspaceId } = email;
  const now = clock.now();
  if (email.kind === 'invitation') {
    const reader = createHash('sha256').update(email.to.toLowerCase()).digest('base64url');
    const counted = await database.query(COUNT, [reader, new Date(now).toISOString()]);
    if (counted.length === 0) return;
  }
  const rows = readers.map(({ to, language }) => ({
    id: mintId('sem', now),
    sealed: sealer.seal(JSON.stringify({ to, language, email, at: now } satisfies SealedEmail), PURPOSE),
  }));
  const until = 'expiresAt' in email ? email.expiresAt : now + WARNING_LASTS_MS;
  const moments = [now, until].map((at) => new Date(at).toISOString());
  const parameters = [JSON.stringify(rows), workspaceId, ...moments];
  await (of
    ? database.query(WARN, [...parameters, of.id, of.revision])
    : database.query(ENQUEUE, parameters));
}

/** A reader of an email, with the language that they get it in. */
interface Reader {
  readonly to: string;
  readonly language: PageLanguage;
}

/** An email as it is stored. */
interface SealedEmail {
  readonly to: string;
  /** Absent in emails that an earlier version has stored. */
  readonly language?: PageLanguage;
  readonly email: ServiceEmail;
  /** Epoch milliseconds. */
  readonly at: number;
}

async function settingsOf(
  database: Database,
  workspaceId: string | null,
): Promise<{ readonly muted: readonly string[]; readonly language: string | null } | null> {
  if (workspaceId === null) return null;
  const [row] = await database.read((orm) =>
    orm
      .select({ muted: workspaces.mutedEmails, language: workspaces.language })
      .from(workspaces)
      .where(eq(workspaces.id, workspaceId)),
  );
  return row ?? null;
}

async function readersOf(database: Database, email: ServiceEmail): Promise<readonly Reader[]> {
  const { kind, workspaceId } = email;
  const settings = await settingsOf(database, workspaceId);
  const isMutable = (MUTABLE_EMAILS as readonly string[]).includes(kind);
  if (isMutable && settings?.muted.includes(kind)) return [];
  const languageOf = (wish: string | null) => pageLanguageAmong([wish, settings?.language]);
  if (kind === 'invitation') return [{ to: email.to, language: languageOf(email.language) }];
  // Only owners and admins can fix a problem.
  const ofPerson = 'to' in email ? eq(accounts.email, email.to) : inArray(members.role, ['owner', 'admin']);
  const found = await database.read((orm) =>
    orm
      .select({ to: accounts.email, language: members.language })
      .from(members)
      .innerJoin(accounts, eq(accounts.id, members.accountId))
      .where(and(eq(members.workspaceId, workspaceId ?? ''), ofPerson))
      .orderBy(members.id)
      .limit(MOST_WARNED),
  );
  // A person without a workspace still gets what is about their sign-in.
  const readers = found.length === 0 && 'to' in email ? [{ to: email.to, language: null }] : found;
  return readers.map(({ to, language }) => ({ to, language: languageOf(language) }));
}

/**
 * Each try waits twice as long as the one before, up to two hours. Other instances skip an email that one is
 * trying.
 */
const CLAIM = `update service_emails s set attempts = s.attempts + 1,
  next_at = $1::text::timestamptz + least(power(2, s.attempts), 120) * interval '1 minute'
from (
  select id from service_emails where next_at <= $1::text::timestamptz order by next_at limit ${AT_ONCE} for update skip locked
) due where s.id = due.id
returning s.id, s.workspace_id, s.sealed, s.expires_at <= $1::text::timestamptz as is_over`;

const DONE = 'delete from service_emails where id = any($1::text[])';

interface QueuedEmailRow {
  readonly id: string;
  readonly workspace_id: string | null;
  readonly sealed: string;
  readonly is_over: boolean;
}

/**
 * Sends waiting emails, with retries until a server has accepted or refused each, or it is too old to be of
 * use.
 */
export const serviceEmailSender = (deps: ServiceEmailDeps): Duty => ({
  name: 'serviceEmailSender',
  pattern: '*/2 * * * * *',
  asks: (now) => `exists (select from service_emails where next_at <= ${now})`,
  async run(stop) {
    for (;;) {
      const due = await deps.database.query<QueuedEmailRow>(CLAIM, [
        new Date(deps.clock.now()).toISOString(),
      ]);
      const ended = await Promise.all(due.map(async (one) => ((await isOver(deps, one)) ? [one.id] : [])));
      await deps.database.query(DONE, [ended.flat()]);
      const outdated = lte(serviceEmailReaders.since, new Date(deps.clock.now() - DAY_MS));
      if (due.length > 0) await deps.database.read((orm) => orm.delete(serviceEmailReaders).where(outdated));
      if (stop?.aborted || due.length < AT_ONCE) return;
    }
  },
});

/** An email whose attempt fails does not keep the others back, and expires with age. */
async function isOver(deps: ServiceEmailDeps, due: QueuedEmailRow): Promise<boolean> {
  try {
    return await isDone(deps, due);
  } catch (error) {
    deps.logger.warn({ err: error, email: due.id }, 'An attempt to send an email of the service failed.');
    return due.is_over;
  }
}

async function isDone(
  deps: ServiceEmailDeps,
  { id, workspace_id, sealed, is_over }: QueuedEmailRow,
): Promise<boolean> {
  const { database, sealer, logger, publicUrl, send } = deps;
  const read = JSON.parse(sealer.open(sealed, PURPOSE)) as SealedEmail;
  const { to, language = 'en', email, at } = read;
  const brand = workspace_id === null ? null : await findBrand(database, workspace_id, publicUrl);
  const look = brand ?? { name: PRODUCT, logoUrl: null, colour: null };
  const content = contentOf(email, language, { name: look.name, publicUrl });
  const parts = { subject: content.subject, html: htmlOf(content, look), text: textOf(content) };
  // A workspace could learn from a returned message how to sign in as a person who belongs to other
  // workspaces as well.
  const prefersOperator = email.kind === 'passwordReset' || email.kind === 'signInChanged';
  const message = { id, workspaceId: workspace_id, prefersOperator, to, at, ...parts };
  const outcome = is_over ? 'too late' : await send(message);
  if (outcome === 'accepted') return true;
  // The link in it is a way in, and the address a person's: neither is logged.
  const said = { email: id, kind: email.kind, outcome };
  if (outcome === 'deferred') logger.debug(said, 'An email of the service could not be sent yet.');
  else logger.warn(said, UNSENT[outcome]);
  return outcome !== 'deferred';
}

const UNSENT = {
  refused: 'An email of the service was refused.',
  unknown: 'An email of the service is in doubt: it may have been delivered, so it is not sent again.',
  captured: 'An email of the service was not sent: TRANSPORT=capture sends no mail.',
  'no sender':
    'An email of the service was not sent: the workspace has no default sender that may send, and SERVICE_FROM is not set.',
  'too late': 'An email of the service could not be sent in time.',
} as const;
