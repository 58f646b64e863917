import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { isId, mintId } from '../../platform/db/ids.ts';
import { keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { Failure, invalid, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import {
  contactOfSql,
  hasLeftEverythingSql,
  hasLeftSql,
  isKnownBeforeSql,
  lastLeavingSql,
  type OwnLeaving,
} from '../../sending/suppressions/queries.ts';
import { agreedAt, findContact, isStaleSql, momentProblems, type Scope } from '../contacts/queries.ts';
import { type AddedView, type AddMembers, MOST_ADDED } from './model.ts';
import { type AudienceCounter, type AudienceReader, findAudienceRow } from './queries.ts';

const DYNAMIC = new Failure('CONFLICT', 'This audience is dynamic: whom its filter matches is in it.', {
  suggestion: 'Change its filter, or add the contacts to a static audience.',
});

const NO_SENDER = new Failure(
  'CONFLICT',
  'This audience asks people to confirm, and the workspace has no default sender to ask from.',
  { suggestion: 'Set defaultFrom with PATCH /v1/workspace, or change the audience to confirm: false.' },
);

/** The services that changing members calls. */
export interface MemberDeps extends AudienceCounter {
  /**
   * Mails people who have to confirm, by the ids of their confirmations. What it could not do is done later.
   */
  askToConfirm(ids: readonly string[]): Promise<void>;
}

/** Mails a day that ask one person to confirm, over all audiences. */
const MOST_ASKED = 3;

/**
 * Something of the entry of a contact that left an audience; null where the leaving was committed while the
 * statement waited for its lock.
 */
const leavingSql = (
  what: string,
): string => `(select ${what} from contact_activity e where e.contact_id = l.id and e.subject = $3 and e.type = 'left'
  order by e.position desc, e.id desc limit 1)`;

/** The consent is older than the leaving of the audience. */
const IS_STALE_THERE = isStaleSql({
  agreedAt: '$8::timestamptz',
  leftAt: leavingSql('e.at'),
  isKnown: leavingSql(isKnownBeforeSql('e', '$8::timestamptz')),
});

/** The consent is older than the leaving of everything. */
const IS_STALE = isStaleSql({
  agreedAt: '$8::timestamptz',
  leftAt: 'l.unsubscribed_at',
  isKnown: lastLeavingSql('l.id', isKnownBeforeSql('act', '$8::timestamptz')),
});

/**
 * $1 workspace, $2 environment, $3 audience, $4 the contacts to add, $5 whether they have to confirm, $6 now,
 * $7 their consent or null, $8 its moment, $9 on: the reply. The activity of each contact gets the joining in
 * the same commit, in order, for flows that wait for it. A contact who has to confirm gets a mail; its row in
 * `confirmations` lasts until that mail is accepted. People who themselves left the audience, or who left
 * everything and would be asked, stay out without a later consent. All contacts are locked first: leaving,
 * joining and asking at the same moment wait for each other, and the latest state decides. Every statement
 * locks contacts before it writes memberships, so that no two of them deadlock.
 */
const ADD = `with asked as materialized (
  select * from json_to_recordset($4::text::json) as a(ord integer, id text, email_key text, activity_id text)
), found as materialized (
  select a.ord, a.activity_id, c.id from asked a join contacts c
    on c.workspace_id = $1 and c.livemode = $2::boolean and c.id = a.id where a.id is not null
  union all
  select a.ord, a.activity_id, c.id from asked a
    cross join lateral ${contactOfSql({ workspaceId: '$1::text', livemode: '$2::boolean', key: 'a.email_key' })} c
  where a.email_key is not null
), each_once as (
  select distinct on (id) id, activity_id from found order by id
), locked as materialized (
  select * from (select c.*, e.activity_id from each_once e
    join contacts c on c.workspace_id = $1 and c.livemode = $2::boolean and c.id = e.id
  order by c.id for no key update of c) l
), staying_out as materialized (
  select l.id from locked l where ${hasLeftSql({ contactId: 'l.id', audienceId: '$3', isLocked: true })}
    and ${IS_STALE_THERE}
    or $5::boolean and ${hasLeftEverythingSql('l')} and ${IS_STALE}
), entering as materialized (
  select l.* from locked l where l.id not in (select id from staying_out)
), added as (
  insert into audience_members (audience_id, contact_id, state, since)
  select $3, id, case when $5::boolean then 'pending' else 'joined' end, $6::timestamptz from entering order by id
  on conflict (audience_id, contact_id) do nothing returning contact_id
), noted as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
  select e.id, e.activity_id, $2::boolean, 'joined', $6::timestamptz, $3,
    case when $7::json is not null then json_build_object('consent', $7::json) end from entering e
  where not $5::boolean and e.id in (select contact_id from added)
), unconfirmed as materialized (
  select e.* from entering e where $5::boolean and not exists (
    select from audience_members m where m.audience_id = $3 and m.contact_id = e.id and m.state = 'joined')
), judged as materialized (
  select u.id, u.activity_id, r.recently, cardinality(r.recently) < ${MOST_ASKED} as may_be_asked
  from unconfirmed u cross join lateral (
    select array(select t from unnest(u.asked_at) t where t > $6::timestamptz - interval '1 day') as recently
  ) r
), remembered as (
  update contacts c set asked_at = j.recently || $6::timestamptz from judged j
  where j.may_be_asked and c.workspace_id = $1 and c.livemode = $2::boolean and c.id = j.id
), waiting as (
  insert into confirmations (id, workspace_id, livemode, audience_id, contact_id, asked_at, next_at)
  select activity_id, $1, $2::boolean, $3, id, $6::timestamptz, $6::timestamptz + interval '10 seconds'
  from judged where may_be_asked returning id
), left_alone as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
  select id, activity_id, $2::boolean, 'notAsked', $6::timestamptz, $3, '{"reason":"asked_often"}' from judged
  where not may_be_asked and id in (select contact_id from added)
), outcome as (
  select (select count(*) from added)::integer as added, (select count(*) from entering)::integer as known,
    coalesce((select json_agg(ord order by ord) from asked where ord not in (select ord from found)), '[]'::json) as missing,
    coalesce((select json_agg(ord order by ord) from found where id in (select id from staying_out)), '[]'::json) as left
), kept as (
  ${keepReplySql({ from: 'outcome', reply: 'row_to_json(outcome)::text', first: 9 })}
)
select added, known, missing, "left", array(select id from waiting) as waiting from outcome`;

interface Outcome {
  readonly added: number;
  readonly known: number;
  /** The places in the request that no contact was found for. */
  readonly missing: readonly number[];
  /** The places in the request of people who left the audience and stay out. */
  readonly left: readonly number[];
}

type AddCall = Call<{ readonly id: string }, unknown, AddMembers>;

/** Adds contacts to a static audience; those that are in it already stay as they are. */
export async function addMembers(deps: MemberDeps, call: AddCall): Promise<AddedView | Failure | Replay> {
  const { caller, params, body, now } = call;
  const names = [...(body.contactIds ?? []), ...(body.emails ?? [])];
  if (names.length === 0 || names.length > MOST_ADDED)
    return invalidAt(
      '/body',
      `Name 1 to ${MOST_ADDED.toLocaleString('en')} contacts, by contactIds and emails.`,
    );
  const consent = body.consent ?? null;
  const wrong = consent ? momentProblems(consent, now) : [];
  if (wrong.length > 0) return invalid(wrong);
  const done = await idempotently<Outcome>(deps.database, keyedBy(call), {
    run: async () => {
      const audience = await findAudienceRow(deps, caller, params.id);
      if (!audience) return notFound('audience');
      if (audience.type === 'dynamic') return DYNAMIC;
      if (audience.confirm && caller.senderDefaults.from === null) return NO_SENDER;
      const [row] = await deps.database.query<Outcome & { readonly waiting: readonly string[] }>(ADD, [
        caller.workspaceId,
        caller.livemode,
        audience.id,
        JSON.stringify(askedOf(body, now)),
        audience.confirm,
        new Date(now).toISOString(),
        consent && JSON.stringify(consent),
        agreedAt(consent),
        ...replyParameters(keyedBy(call), 200),
      ]);
      if (!row) return notFound('audience');
      await deps.askToConfirm(row.waiting);
      return row;
    },
  });
  if (done instanceof Failure) return done;
  const { added, known, missing, left } = done instanceof Replay ? (done.body as Outcome) : done;
  const namesAt = (places: readonly number[]) => places.map((place) => names[place] ?? '');
  const view = {
    added,
    alreadyIn: known - added,
    notFound: namesAt(missing),
    ...(left.length > 0 && { left: namesAt(left) }),
  };
  return done instanceof Replay ? new Replay(done.status, view) : view;
}

/**
 * The rows of those who are named; the reply names the missing by their places, so that it holds nothing
 * personal.
 */
function askedOf({ contactIds = [], emails = [] }: AddMembers, now: number): readonly object[] {
  const row = (ord: number, id: string | null, emailKey: string | null) => ({
    ord,
    id,
    email_key: emailKey,
    activity_id: mintId('act', now),
  });
  return [
    ...contactIds.map((id, ord) => row(ord, isId('con', id) ? id : null, null)),
    ...emails.map((email, index) => {
      const read = parseAddress(email);
      return row(contactIds.length + index, null, isProblem(read) ? null : read.key);
    }),
  ];
}

/**
 * $1 workspace, $2 environment, $3 audience, $4 contact, $5 now, $6 id of the activity, $7 why, $8 whether
 * the person did it. One who had not confirmed leaves no trace. The person's own will is noted also of one
 * who is not in it: nothing but their own will lets them in again. The contact is locked first, so that who
 * lets it in at the same moment is either found or finds the leaving.
 */
const REMOVE = `with locked as materialized (
  select c.id from contacts c where c.workspace_id = $1 and c.livemode = $2::boolean and c.id = $4 for no key update
), gone as materialized (
  select l.id, end_membership(l.id, $3) as state from locked l
), noted as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
  select g.id, $6, $2::boolean, 'left', $5::timestamptz, $3, $7::text::json from gone g
  where g.state = 'joined' or $8::boolean and not ${hasLeftSql({ contactId: 'g.id', audienceId: '$3', isLocked: true })}
)
select state from gone where state is not null`;

/** A contact that leaves an audience. */
export interface LeaveRequest extends Scope {
  readonly audienceId: string;
  readonly contactId: string;
  readonly now: number;
  /** The way that the person took; absent when an API key or a member did it. */
  readonly own?: OwnLeaving;
  /** The entry of a change by a flow. */
  readonly data?: object;
}

/** Takes a contact out of a static audience; false when it was not in it. @throws UnavailableError */
export async function leaveAudience(
  database: Database,
  { workspaceId, livemode, audienceId, contactId, now, own, data = own }: LeaveRequest,
): Promise<boolean> {
  const rows = await database.query(REMOVE, [
    workspaceId,
    livemode,
    audienceId,
    contactId,
    new Date(now).toISOString(),
    mintId('act', now),
    data === undefined ? null : JSON.stringify(data),
    own !== undefined,
  ]);
  return rows.length > 0;
}

/** A contact that joins an audience by itself. */
export interface JoinRequest extends Scope {
  readonly audienceId: string;
  readonly contactId: string;
  readonly now: number;
  /** Only one who was asked to confirm. */
  readonly onlyPending: boolean;
  /** False for a person who has left it themselves. */
  readonly unlessLeft?: boolean;
  /** Further data of the entry, such as the run of a flow. */
  readonly data?: object;
}

/**
 * $1 workspace, $2 environment, $3 audience, $4 contact, $5 now, $6 id of the activity, $7 whether only those
 * who were asked, $8 whether only those who have not left, $9 why. Who is in it already stays so, and that
 * counts as done.
 */
const JOIN = `with locked as materialized (
  select c.id from contacts c where c.workspace_id = $1 and c.livemode = $2::boolean and c.id = $4 for no key update
), judged as materialized (
  select a.id, l.id as contact_id,
    $8::boolean and ${hasLeftSql({ contactId: 'l.id', audienceId: 'a.id', isLocked: true })} as has_left
  from locked l cross join audiences a
  where a.workspace_id = $1 and a.livemode = $2::boolean and a.id = $3 and a.type = 'static' and (not $7::boolean or exists (
    select from audience_members m where m.audience_id = a.id and m.contact_id = l.id))
), joined as (
  insert into audience_members as m (audience_id, contact_id, state, since)
  select id, contact_id, 'joined', $5::timestamptz from judged where not has_left
  on conflict (audience_id, contact_id) do update set state = 'joined', since = excluded.since where m.state = 'pending'
  returning m.contact_id
), noted as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
  select contact_id, $6, $2::boolean, 'joined', $5::timestamptz, $3, $9::text::json from joined
)
select has_left from judged`;

/**
 * Lets a contact into a static audience; `hasLeft` where it stays out, null when there is nothing to join.
 * @throws UnavailableError
 */
export async function joinAudience(
  database: Database,
  { workspaceId, livemode, audienceId, contactId, now, onlyPending, unlessLeft = false, data }: JoinRequest,
): Promise<'joined' | 'hasLeft' | null> {
  const [row] = await database.query<{ has_left: boolean }>(JOIN, [
    workspaceId,
    livemode,
    audienceId,
    contactId,
    new Date(now).toISOString(),
    mintId('act', now),
    onlyPending,
    unlessLeft,
    data === undefined ? null : JSON.stringify(data),
  ]);
  return row ? (row.has_left ? 'hasLeft' : 'joined') : null;
}

/** Removes a contact from a static audience. */
export async function removeMember(
  reader: AudienceReader,
  { caller, params, now }: Call<{ readonly id: string; readonly contact: string }>,
): Promise<null | Failure> {
  const audience = await findAudienceRow(reader, caller, params.id);
  if (!audience) return notFound('audience');
  if (audience.type === 'dynamic') return DYNAMIC;
  const contact = await findContact(reader, caller, params.contact);
  if (!contact) return notFound('contact');
  const { workspaceId, livemode } = caller;
  const leaving = { workspaceId, livemode, audienceId: audience.id, contactId: contact.id, now };
  return (await leaveAudience(reader.database, leaving)) ? null : notFound('contact in this audience');
}
