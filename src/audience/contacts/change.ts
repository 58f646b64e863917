import { changedSince, isStatedSql, laterSql, statedMoment } from '../../http/if-updated-at.ts';
import type { Call } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Database } from '../../platform/db/database.ts';
import { mintId } from '../../platform/db/ids.ts';
import { type Detail, Failure, invalid, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import type { ContactTexts } from '../../platform/text/contact-fields.ts';
import {
  enterReasonSql,
  forgottenKey,
  isKnownBeforeSql,
  isUnsubscribedLastSql,
  lastLeavingSql,
  lastUnsubscriptionSql,
  leftByWorkspaceSql,
  noteRemovalSql,
  removalParameters,
  removeReasonSql,
  TOLD_TO_SES,
  unsubscribedAtSql,
} from '../../sending/suppressions/queries.ts';
import { FIELD_INPUT_COLUMNS, fieldInput, setFieldsSql } from './field-columns.ts';
import type { ContactCommands } from './lists/contact-rows.ts';
import { findContact, type Scope } from './lists/contact-rows.ts';
import { agreedAt, type ContactView, isStaleSql, momentProblems, type PatchContact } from './model.ts';
import { readProperties, tooManyProperties } from './properties.ts';
import { isMistaken } from './read-contact.ts';

const CHANGED = changedSince('contact');
const COMPLAINED = new Failure('CONFLICT', 'This person has complained, and cannot be subscribed again.');

/**
 * Of a contact whose address has bounced: it was unsubscribed already. One who only bounced has the moment of
 * that in both places.
 */
const LEFT_BEFORE_BOUNCE = `left_at < coalesce((select max(created_at) from known where reason = 'bounced'), 'infinity')`;

/**
 * When the person unsubscribed, as the suppression of the address says; also where it bounced before or
 * since.
 */
const UNSUBSCRIPTION = '(select max(unsubscribed_at) from known)';

/** Consent takes back an unsubscription and a bounce. */
const LIFT = removeReasonSql({
  beside: 'changed c',
  rows: `$2::boolean and c.becomes = 'subscribed' and s.workspace_id = $1 and s.address_key in (c.email_key, $6)`,
  isRemoved: `s.reason in ('unsubscribed', 'bounced')`,
  forgivesUnsubscription: true,
});

/**
 * The contact is subscribed, and mail is kept from the address all the same: the person was forgotten, is a
 * contact again, and a report about an email from before came since, which knows no more than the hash.
 */
const IS_OUT_BY_HASH = `(before = 'subscribed' and exists (select from known
  where reason in ('unsubscribed', 'bounced') or unsubscribed_at is not null))`;

/** A person may leave after the workspace has unsubscribed them. */
const LAST_LEFT_AT = lastUnsubscriptionSql('target_id', 'act.at');
const IS_KNOWN = lastLeavingSql('target_id', isKnownBeforeSql('act', 'agreed_at'));

const LEFT_BY_WORKSPACE = leftByWorkspaceSql('target_id', 'left_at');

/**
 * The contact is unsubscribed after its address had bounced, which may end; or the person leaves by themself,
 * as their consent tells, after the workspace had unsubscribed them: that decides from then on.
 */
const LEAVES_AS_WELL = `(before = 'bounced' and $2::boolean and ${UNSUBSCRIPTION} is null
  or before = 'unsubscribed' and consent is not null and ${LEFT_BY_WORKSPACE})`;

/** The person leaves once more: a consent from before counts no more than before the first time. */
const LEAVES_AGAIN = `v.status = 'unsubscribed' and v.consent is not null and v.before in ('unsubscribed', 'bounced')`;

/**
 * $1 workspace, $2 environment, $3 id, $4 now, $5 the changes, $6 the keyed hash of the address, $7 id of the
 * activity, $10 when the client has seen it change last, or null. Consent lifts what stood against the
 * person: an unsubscription and a bounce, neither a complaint nor what was entered by hand. It must be no
 * older than a person's own unsubscription, also where the address has bounced since; an act of the person's
 * own now has no `agreed_at`. The suppressions are locked before the verdict: it counts an unsubscription
 * that was committed during the wait for the lock.
 */
const CHANGE = `with asked as (
  select * from json_to_record($5::text::json) as a(${FIELD_INPUT_COLUMNS},
    properties jsonb, removed text[], status text, consent json, agreed_at timestamptz)
), target as materialized (
  select c.id as target_id, c.status as before, c.unsubscribed_at as left_at, c.email_key as target_key, (c.properties || a.properties) - a.removed as merged, ${isStatedSql('c.updated_at', '$10')} as is_as_seen, a.*
  from asked a cross join contacts c where c.workspace_id = $1 and c.livemode = $2::boolean and c.id = $3 for update of c
), known as materialized (
  select s.reason, s.created_at, ${unsubscribedAtSql('s')} as unsubscribed_at from target t cross join suppressions s
  where $2::boolean and t.status is not null and s.workspace_id = $1 and s.address_key in (t.target_key, $6) for update of s
), verdict as materialized (
  select *, case
    when not is_as_seen then 'outdated'
    when status = 'subscribed' and before = 'complained' then 'complained'
    when status = 'subscribed' and agreed_at is not null
      and (before = 'unsubscribed' or ${IS_OUT_BY_HASH} and ${UNSUBSCRIPTION} is not null or before = 'bounced' and (${LEFT_BEFORE_BOUNCE} or ${UNSUBSCRIPTION} is not null))
      and ${isStaleSql({
        agreedAt: 'agreed_at',
        leftAt: `coalesce(greatest(left_at, ${UNSUBSCRIPTION}, ${LAST_LEFT_AT}), '-infinity')`,
        isKnown: IS_KNOWN,
      })}
      and not ${LEFT_BY_WORKSPACE} then 'stale'
    when (select count(*) from jsonb_object_keys(merged)) > 100 then 'full'
    else 'changed' end as outcome,
    case when status = 'subscribed' and (before not in ('subscribed', 'complained') or consent is not null and ${IS_OUT_BY_HASH}) then 'subscribed'
      when status = 'unsubscribed' and (before = 'subscribed' or ${LEAVES_AS_WELL}) then 'unsubscribed' end as becomes
  from target
), changed as (
  update contacts c set
    ${setFieldsSql('v')},
    properties = v.merged, status = case when v.becomes = 'unsubscribed' and v.before = 'bounced' then c.status else coalesce(v.becomes, c.status) end,
    unsubscribed_at = case when v.becomes = 'subscribed' then null when v.becomes = 'unsubscribed' or ${LEAVES_AGAIN} then $4::timestamptz
      else c.unsubscribed_at end,
    updated_at = ${laterSql('c.updated_at', '$4')}
  from verdict v where v.outcome = 'changed' and c.workspace_id = $1 and c.livemode = $2::boolean and c.id = v.target_id
  returning c.id, c.email, c.email_key, v.becomes, v.consent
), suppressed as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at)
  select $1, email_key, email, 'unsubscribed', null, $4::timestamptz from changed
  where $2::boolean and becomes = 'unsubscribed'
  ${enterReasonSql('s')}
), ${LIFT}, told as (
  ${noteRemovalSql(TOLD_TO_SES, { id: '$8', sealed: '$9', at: '$4::timestamptz' })}
), noted as (
  insert into contact_activity (contact_id, id, livemode, type, at, data)
  select id, $7, $2::boolean, becomes, $4::timestamptz, consent from changed where becomes is not null
)
select outcome from verdict`;

/** The services that changing a contact calls. */
export interface ChangeDeps extends ContactCommands {
  readonly sealer: Sealer;
  /** True when Amazon SES is one of the transports. */
  readonly tellsSes: boolean;
}

type PatchCall = Call<{ readonly contact: string }, unknown, PatchContact>;

/** Changes a contact; properties are merged. */
export async function patchContact(commands: ChangeDeps, call: PatchCall): Promise<ContactView | Failure> {
  const { caller, params, body, now } = call;
  const changes = readProperties(body.properties, '/body/properties');
  const wrong = [...(isMistaken(changes) ? changes : []), ...consentProblems(call)];
  if (isMistaken(changes) || wrong.length > 0) return invalid(wrong);
  const contact = await findContact(commands, caller, params.contact);
  if (!contact) return notFound('contact');
  const { status = null, consent = null } = body;
  const asked = {
    ...fieldInput(body),
    properties: changes.set,
    removed: changes.removed,
    status,
    consent,
    agreed_at: agreedAt(consent),
  };
  const outcome = await change(commands, caller, contact, asked, now, statedMoment(body));
  if (outcome === 'outdated') return CHANGED;
  if (outcome === 'complained') return COMPLAINED;
  if (outcome === 'stale') return invalid([staleConsent(contact.unsubscribedAt)]);
  if (outcome === 'full') return invalid([tooManyProperties('/body/properties')]);
  return (outcome && (await findContact(commands, caller, contact.id))) || notFound('contact');
}

/** The changed contact. */
interface ChangedContact {
  readonly id: string;
  readonly email: string;
}

/** The outcome of a change; null for a deleted contact. */
type Outcome = 'changed' | 'outdated' | 'complained' | 'stale' | 'full' | null;

async function change(
  commands: ChangeDeps,
  { workspaceId, livemode }: Scope,
  contact: ChangedContact,
  asked: object,
  now: number,
  seen: string | null = null,
): Promise<Outcome> {
  const address = parseAddress(contact.email);
  const hash = isProblem(address) ? '' : forgottenKey(commands.signer, workspaceId, address.key);
  const [done] = await commands.database.query<{ outcome: Outcome }>(CHANGE, [
    workspaceId,
    livemode,
    contact.id,
    new Date(now).toISOString(),
    JSON.stringify(asked),
    hash,
    mintId('act', now),
    ...removalParameters(commands, contact.email, now),
    seen,
  ]);
  return done?.outcome ?? null;
}

/** The fields of a contact that a flow changes; absent ones stay. */
export interface ContactChanges extends Partial<ContactTexts> {
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Changes what is known of a contact, whose properties are merged. @throws UnavailableError */
export async function changeContact(
  commands: ChangeDeps,
  scope: Scope,
  contact: ChangedContact,
  changes: ContactChanges,
  now: number,
): Promise<'changed' | 'full' | 'gone'> {
  const read = readProperties(changes.properties, '');
  // They were checked when they were written down.
  const { set, removed } = isMistaken(read) ? { set: {}, removed: [] } : read;
  const asked = { ...fieldInput(changes), properties: set, removed, status: null, consent: null };
  const outcome = await change(commands, scope, contact, asked, now);
  return outcome === 'full' ? 'full' : outcome === null ? 'gone' : 'changed';
}

/** A status that a person has chosen, and how it is known. */
export interface ChosenStatus {
  readonly status: 'subscribed' | 'unsubscribed';
  readonly consent: { readonly source: string; readonly at: string };
}

/**
 * Changes the status of a contact by the person's own will; a complaint stays one. @throws UnavailableError
 */
export async function changeStatus(
  commands: ChangeDeps,
  scope: Scope,
  contact: ChangedContact,
  chosen: ChosenStatus,
  now: number,
): Promise<void> {
  await change(commands, scope, contact, { ...fieldInput({}), properties: {}, removed: [], ...chosen }, now);
}

/** A person unsubscribes by the link of an email. */
interface UnsubscriptionByEmail {
  readonly workspaceId: string;
  readonly contactId: string;
  readonly emailId: string;
  readonly campaignId: string | null;
  /** The data of the entry in the activity. */
  readonly data: object;
}

/**
 * $1 workspace, $2 the contact, $3 now, $4 id of the activity, $5 the email, $6 its campaign, $7 the data.
 * The entry refuses a consent that was known before. One is enough until the next consent, however often a
 * program calls the link.
 */
const LEAVE_AGAIN = `with gone as (
  update contacts set unsubscribed_at = greatest(unsubscribed_at, $3::timestamptz)
  where workspace_id = $1 and livemode and id = $2 and status in ('unsubscribed', 'bounced') returning id
)
insert into contact_activity (contact_id, id, livemode, type, at, email_id, campaign_id, data)
select id, $4, true, 'unsubscribed', $3::timestamptz, $5, $6, $7::text::json from gone
where not ${isUnsubscribedLastSql('gone.id')}`;

/** Notes that a person has left once more, by a link that they have used before. @throws UnavailableError */
export const leaveAgain = (
  database: Pick<Database, 'query'>,
  { workspaceId, contactId, emailId, campaignId, data }: UnsubscriptionByEmail,
  now: number,
): Promise<unknown> =>
  database.query(LEAVE_AGAIN, [
    workspaceId,
    contactId,
    new Date(now).toISOString(),
    mintId('act', now),
    emailId,
    campaignId,
    JSON.stringify(data),
  ]);

/**
 * A program that copies the contacts of another one sends the consent of the first day each night: people
 * have left since.
 */
const staleConsent = (leftAt: string | null): Detail => ({
  path: '/body/consent/at',
  message: `Must not be before the person unsubscribed${leftAt === null ? '' : `, at ${leftAt}`}, nor known before: send a newer consent.`,
});

function consentProblems({ body: { status, consent }, now }: PatchCall): readonly Detail[] {
  if (status === 'subscribed') {
    if (!consent) return [{ path: '/body/consent', message: 'Tell where and when the person agreed.' }];
    return momentProblems(consent, now);
  }
  return consent
    ? [{ path: '/body/consent', message: 'Send it with the status subscribed, or leave it out.' }]
    : [];
}
