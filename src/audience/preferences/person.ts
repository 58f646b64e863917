import { and, eq, sql } from 'drizzle-orm';
import type { Engine } from '../../engine/engine.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { audienceMembers, audiences } from '../../platform/db/schema/audiences.ts';
import { suppress } from '../../sending/suppressions/commands.ts';
import {
  forgottenKey,
  hasLeftEverythingSql,
  hasUnsubscribed,
  leftByWorkspaceSql,
  reasonOf,
  unsubscribedAtSql,
} from '../../sending/suppressions/queries.ts';
import { joinAudience, leaveAudience } from '../audiences/commands.ts';
import { changeStatus } from '../contacts/commands.ts';
import type { Scope } from '../contacts/queries.ts';
import type { CampaignCopy, PageVisitor, Recipient } from './links.ts';

/** The most audiences that a page shows. */
const MOST_SHOWN = 100;

const PERSON = `select id, email, status, properties ->> 'language' as language from contacts
where workspace_id = $1 and livemode = $2::boolean and email_key = $3`;

/** An audience that people may join and leave on the page. */
export interface OfferedAudience {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly isIn: boolean;
}

/** The person of a link, as the database knows them now. */
export interface Person {
  /** Null for a person who is no contact, or not any more. */
  readonly contact: { readonly id: string; readonly email: string; readonly status: string } | null;
  readonly offered: readonly OfferedAudience[];
  /** The reason why a person who is no contact gets no mail; null otherwise. */
  readonly suppressed: Awaited<ReturnType<typeof reasonOf>>;
}

/** The services that the pages of recipients call. */
export interface PreferenceDeps {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell'>;
  readonly signer: Signer;
  readonly sealer: Sealer;
  /** True when Amazon SES is one of the transports. */
  readonly tellsSes: boolean;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
}

/** Reads a person and the public audiences. @throws UnavailableError */
export async function findPerson(
  { database, signer }: Pick<PreferenceDeps, 'database' | 'signer'>,
  { workspaceId, livemode, key }: Recipient,
): Promise<Person> {
  const [contact] = await database.query<NonNullable<Person['contact']>>(PERSON, [
    workspaceId,
    livemode,
    key,
  ]);
  const offered = contact ? await offeredTo(database, { workspaceId, livemode }, contact.id) : [];
  const suppressed = contact || !livemode ? null : await reasonOf({ database, signer }, workspaceId, key);
  return { contact: contact ?? null, offered, suppressed };
}

const offeredTo = (
  database: Database,
  { workspaceId, livemode }: Scope,
  contactId: string,
): Promise<readonly OfferedAudience[]> =>
  database.read((orm) =>
    orm
      .select({
        id: audiences.id,
        name: audiences.name,
        description: audiences.description,
        isIn: sql<boolean>`${audienceMembers.contactId} is not null`,
      })
      .from(audiences)
      .leftJoin(
        audienceMembers,
        and(
          eq(audienceMembers.audienceId, audiences.id),
          eq(audienceMembers.contactId, contactId),
          eq(audienceMembers.state, 'joined'),
        ),
      )
      .where(
        and(
          eq(audiences.workspaceId, workspaceId),
          eq(audiences.livemode, livemode),
          audiences.public,
          eq(audiences.type, 'static'),
        ),
      )
      .orderBy(audiences.name, audiences.id)
      .limit(MOST_SHOWN),
  );

/** A person's choice on the page. */
export interface Choice {
  readonly action: 'save' | 'off' | 'again';
  /** The audiences that the page showed: whatever has become public since is left as it is. */
  readonly shown: ReadonlySet<string>;
  readonly chosen: ReadonlySet<string>;
}

/**
 * Counts a leaving for the campaign whose email linked the page, as its link to unsubscribe does; the email
 * knows its recipient, who counts once. `audienceId` is null where the person left everything. The leaving is
 * stored before.
 */
async function countLeaving(
  { engine }: Pick<PreferenceDeps, 'engine'>,
  { emailId, campaignId }: CampaignCopy,
  audienceId: string | null,
  now: number,
): Promise<void> {
  const data = { source: 'page', campaignId, audienceId };
  const report = { type: 'unsubscribed' as const, recipient: 0, suppresses: false, data };
  await engine.tell('email', emailId, { type: 'report.received', at: now, report });
}

/** Carries out a choice; doing so again changes nothing. @throws UnavailableError */
export async function choose(
  deps: PreferenceDeps,
  visitor: PageVisitor,
  choice: Choice,
  now: number,
): Promise<void> {
  const { copy, ...recipient } = visitor;
  const person = await findPerson(deps, recipient);
  await carryOut(deps, recipient, person, choice, now);
  if (!copy) return;
  const { action, shown, chosen } = choice;
  const { audienceId } = copy;
  const wasIn = person.offered.some(({ id, isIn }) => id === audienceId && isIn);
  const status = person.contact?.status ?? (person.suppressed === null ? 'subscribed' : null);
  if (action === 'off' && status === 'subscribed') await countLeaving(deps, copy, null, now);
  if (action !== 'off' && wasIn && shown.has(audienceId) && !chosen.has(audienceId))
    await countLeaving(deps, copy, audienceId, now);
}

/**
 * $1 workspace, $2 environment, $3 the keyed hash of an address that is no contact, $4 now, $5 ids of
 * audiences.
 */
const LEAVE_FORGOTTEN = `insert into forgotten_leavings (workspace_id, livemode, address_hash, audience_id, left_at)
select $1, $2::boolean, $3, u.id, $4::timestamptz from audiences u
where u.workspace_id = $1 and u.livemode = $2::boolean and u.id = any($5::text[] collate "C") and u.public and u.type = 'static'
on conflict (workspace_id, livemode, address_hash, audience_id) do update set left_at = excluded.left_at`;

async function carryOut(
  deps: PreferenceDeps,
  recipient: Recipient,
  { contact, offered }: Person,
  { action, shown, chosen }: Choice,
  now: number,
): Promise<void> {
  const { workspaceId, livemode, key } = recipient;
  if (!contact) {
    // A person who is no contact may still get mail, and may always stop it; of a person of whom only a hash
    // is kept, no more is stored. An address that bounced may receive again one day.
    if (action === 'off' && livemode)
      await suppress(deps.database, {
        workspaceId,
        address: key,
        reason: 'unsubscribed',
        emailId: null,
        at: now,
        knownBy: deps.signer,
      });
    // The page may have been opened before the person was forgotten: the list is kept as left for when they
    // are a contact again.
    if (action === 'save')
      await deps.database.query(LEAVE_FORGOTTEN, [
        workspaceId,
        livemode,
        forgottenKey(deps.signer, workspaceId, key),
        new Date(now).toISOString(),
        [...shown].filter((id) => !chosen.has(id)),
      ]);
    return;
  }
  const at = new Date(now).toISOString();
  const member = { ...recipient, contactId: contact.id, now };
  // First of all: a crash between two commits leaves no list that the person has left, and a campaign may be
  // under way.
  for (const { id, isIn } of action === 'off' ? [] : offered)
    if (isIn && shown.has(id) && !chosen.has(id))
      await leaveAudience(deps.database, { ...member, audienceId: id, own: { source: 'preference page' } });
  if (action !== 'save') {
    const status = action === 'off' ? 'unsubscribed' : 'subscribed';
    await changeStatus(deps, recipient, contact, { status, consent: { source: 'preference page', at } }, now);
  }
  // The lists stay for a way back.
  if (action === 'off') return;
  for (const { id, isIn } of offered)
    if (!isIn && shown.has(id) && chosen.has(id))
      await joinAudience(deps.database, { ...member, audienceId: id, onlyPending: false });
}

/**
 * SQL of the moment of the latest mail that asked the person to confirm; before it, of the moment that the
 * answer was awaited from.
 */
const ASKED_AT = `greatest(m.since, (select max(act.at) from contact_activity act
  where act.contact_id = c.id and act.type = 'asked' and act.subject = m.audience_id))`;

/**
 * $1 workspace, $2 environment, $3 the key of the address, $4 the audience, $5 the keyed hash of the address.
 * A person who left everything by themselves after they were asked has answered by that, also where the
 * address bounced since. Whom the workspace unsubscribed has not.
 */
const QUESTION = `select m.state, c.status, c.status = 'complained'
  or ${hasLeftEverythingSql('c')} and c.unsubscribed_at > ${ASKED_AT}
  or c.status = 'bounced' and c.livemode and not ${leftByWorkspaceSql('c.id', 'c.unsubscribed_at')} and exists (
    select from suppressions s where s.workspace_id = c.workspace_id and s.address_key in (c.email_key, $5)
      and ${unsubscribedAtSql('s')} > ${ASKED_AT}) as has_left
from contacts c join audience_members m on m.contact_id = c.id and m.audience_id = $4
where c.workspace_id = $1 and c.livemode = $2::boolean and c.email_key = $3`;

interface QuestionRow {
  readonly state: 'pending' | 'joined';
  readonly status: string;
  readonly has_left: boolean;
}

/**
 * The state of a question: `open`, or `answered` while the person still is in the audience by it. Null after
 * the person has left, be it the audience or everything, or was forgotten: no link from before brings them
 * back. @throws UnavailableError
 */
export async function findQuestion(
  { database, signer }: Pick<PreferenceDeps, 'database' | 'signer'>,
  { workspaceId, livemode, key, audienceId }: Recipient & { readonly audienceId: string },
): Promise<'open' | 'answered' | null> {
  const [row] = await database.query<QuestionRow>(QUESTION, [
    workspaceId,
    livemode,
    key,
    audienceId,
    forgottenKey(signer, workspaceId, key),
  ]);
  if (row?.state === 'pending') return row.has_left ? null : 'open';
  return row?.status === 'subscribed' ? 'answered' : null;
}

/** $1 workspace, $2 the contact, $3 the audience that it stays in. */
const OTHER_LISTS = `select m.audience_id as id from audience_members m
join audiences u on u.workspace_id = $1 and u.id = m.audience_id and u.type = 'static'
where m.contact_id = $2 and m.audience_id <> $3 and m.state = 'joined' order by 1`;

/** True for a person who has unsubscribed from everything, also where their address has bounced since. */
const hasLeft = async (
  deps: PreferenceDeps,
  { workspaceId, livemode, key }: Recipient,
  status: string,
): Promise<boolean> =>
  status === 'unsubscribed' ||
  (status === 'bounced' && livemode && (await hasUnsubscribed(deps, workspaceId, key)));

/**
 * Takes a confirmation: the person is in the audience, and subscribed, if a confirmation is still awaited.
 * Doing so again changes nothing. Who had unsubscribed from everything agrees to this audience alone, and has
 * left the others: being subscribed again must not bring them back.
 * @throws UnavailableError
 */
export async function confirmAudience(
  deps: PreferenceDeps,
  recipient: Recipient & { readonly audienceId: string },
  now: number,
): Promise<boolean> {
  const question = await findQuestion(deps, recipient);
  if (question !== 'open') return question === 'answered';
  const { contact } = await findPerson(deps, recipient);
  if (!contact) return false;
  const { audienceId } = recipient;
  const member = { ...recipient, contactId: contact.id, now };
  // First of all, as in `choose`: a crash in between leaves the person unsubscribed.
  if (await hasLeft(deps, recipient, contact.status))
    for (const { id } of await deps.database.query<{ id: string }>(OTHER_LISTS, [
      recipient.workspaceId,
      contact.id,
      audienceId,
    ]))
      await leaveAudience(deps.database, { ...member, audienceId: id, own: { source: 'confirmation' } });
  // Before the question is answered: a crash in between leaves it open.
  const consent = { source: `confirmation of ${audienceId}`, at: new Date(now).toISOString() };
  await changeStatus(deps, recipient, contact, { status: 'subscribed', consent }, now);
  return (await joinAudience(deps.database, { ...member, onlyPending: true })) !== null;
}
