import type { LeaveReason } from '../../mail/list-files/consent-words.ts';
import { keepReplySql } from '../../platform/db/stored-replies.ts';
import {
  contactOfSql,
  EARLIER_CONTACT,
  enterReasonSql,
  learnedAtSql,
  learnedStatusSql,
  strength,
} from '../../sending/suppressions/queries.ts';
import {
  FIELD_COLUMNS,
  FIELD_INPUT_COLUMNS,
  type FieldInput,
  STORED_COLUMNS,
  setFieldsSql,
} from './field-columns.ts';
import type { PropertyValues } from './properties.ts';

/** A contact as a statement takes it. What is absent stays as it is. */
export interface ContactInput extends FieldInput {
  /** Its place in the request. Two of one statement never have the same address. */
  readonly ord: number;
  /**
   * Its id if it is new. The entry in the activity that tells of the row is named after it in either case.
   */
  readonly id: string;
  readonly email: string;
  readonly email_key: string;
  /** The keyed hash by which a forgotten address is known. */
  readonly email_hash: string;
  /**
   * True where its names are no more than what stands before an address: a contact that has a name keeps it.
   */
  readonly fills_name?: boolean;
  readonly properties: PropertyValues;
  readonly removed: readonly string[];
  /** The status that the person has left by; null where nothing says that they have. */
  readonly leaves: LeaveReason | null;
  /** When, in ISO 8601; null: now. */
  readonly left_at: string | null;
  /**
   * True where the person has unsubscribed, also beside a stronger status: removing that does not take it
   * back.
   */
  readonly has_unsubscribed?: true;
  /** True where nothing but the leaving counts: the rest of the row is wrong. */
  readonly is_refused?: boolean;
  /** True where the person is not subscribed when new, although they have not left. */
  readonly begins_out: boolean;
  /**
   * The place and time of consent according to a file, which the activity stores. It subscribes no contact.
   */
  readonly consent: { readonly source: string | null; readonly at: string | null } | null;
}

/** The outcome for one of them. */
export interface WrittenContact {
  readonly ord: number;
  readonly id: string;
  /**
   * `known`: it was there, and nothing was to be merged into it. `full`: it would have too many properties.
   * `refused`: by its input.
   */
  readonly outcome: 'created' | 'updated' | 'known' | 'full' | 'refused';
}

/** The columns of the input, for `json_to_recordset`. What is no, empty or null may be left out. */
export const CONTACT_INPUT_COLUMNS = `ord integer, id text, email text, email_key text, email_hash text,
  ${FIELD_INPUT_COLUMNS}, fills_name boolean,
  properties jsonb, removed text[], leaves text, left_at timestamptz, has_unsubscribed boolean, is_refused boolean, begins_out boolean, consent json`;

/** True for a contact without any name. */
const NAMELESS = `coalesce(${FIELD_COLUMNS.map((column) => `c.${column}`).join(', ')}) is null`;

/** SQL texts that the parts of the statement refer to. */
export interface ContactScope {
  /** The relation of the contacts. */
  readonly input?: string;
  readonly workspaceId: string;
  readonly livemode: string;
  readonly now: string;
  /** True when known contacts are changed. */
  readonly merges: string;
  /** True when new ones are made. */
  readonly creates?: string;
  /** The first entry in the activity of a new contact. */
  readonly origin?: { readonly type: string; readonly subject: string };
  /** True where what a row says of leaving counts even if nothing else of it is taken. */
  readonly leavesAnyway?: boolean;
  /** The test clock of new contacts. */
  readonly clock?: string;
}

/**
 * The CTEs that make and merge contacts from a relation of `CONTACT_INPUT_COLUMNS` with an address at most
 * once. They end with `written` (ord, id, outcome). They subscribe no one who was not subscribed: a new
 * contact begins with what the suppressions say of its address, be it known or only by its hash. Rows are
 * locked in the order of their ids. An address that another statement adds meanwhile is in no row of
 * `written`: the statement is to be repeated for it. A new contact of a forgotten address has left the
 * audiences that the person had left (`left_before`): its activity says so, as it did before. A refused row
 * stores no address beside the hash that knows it.
 */
export const writeContactsSql = ({
  input = 'input',
  workspaceId,
  livemode,
  now,
  merges,
  creates = 'true',
  origin = { type: "'created'", subject: 'null' },
  leavesAnyway = false,
  clock,
}: ContactScope): string => `placed as materialized (
  select i.*, ${workspaceId} as in_workspace, ${livemode} as in_livemode from ${input} i
), met as materialized (
  select i.*, found.id as known_id from placed i
    cross join lateral ${contactOfSql({ workspaceId: 'i.in_workspace', livemode: 'i.in_livemode', key: 'i.email_key' })} found
), known as materialized (
  select * from (select i.*, c.status as known_status, c.unsubscribed_at as known_left_at, (c.properties || i.properties) - coalesce(i.removed, '{}') as merged
  from met i join contacts c on c.workspace_id = i.in_workspace and c.livemode = i.in_livemode and c.id = i.known_id
    and c.email_key = i.email_key
  order by c.id for update of c) k
), fitting as materialized (
  select f.*, ${merges} and fits as is_merged,
    ${leavesAnyway ? 'true' : `${merges} and fits`} and coalesce(${strength('leaves')} > ${strength('known_status')}, false) as lowers,
    coalesce(leaves = 'unsubscribed' and left_at is not null and known_status in ('unsubscribed', 'bounced')
      and least(left_at, ${now}) > known_left_at, false) as leaves_again
  from (select *, is_refused is null and (select count(*) from jsonb_object_keys(merged)) <= 100 as fits from known) f
), updated as (
  update contacts c set
    ${setFieldsSql('k', `k.is_merged and (k.fills_name is not true or ${NAMELESS})`)},
    properties = case when k.is_merged then k.merged else c.properties end,
    status = case when k.lowers then k.leaves else c.status end,
    unsubscribed_at = case when k.lowers then coalesce(c.unsubscribed_at, least(k.left_at, ${now}), ${now})
      when k.leaves_again then least(k.left_at, ${now}) else c.unsubscribed_at end,
    updated_at = ${now}
  from fitting k
  where (k.is_merged or k.lowers or k.leaves_again) and c.workspace_id = k.in_workspace and c.livemode = k.in_livemode and c.email_key = k.email_key
    and c.id = k.known_id
), places as materialized (
  select jsonb_object_agg(email_key, ord) as of, jsonb_object_agg(email_key, consent) filter (where consent is not null) as consents
  from ${input}
), created as (
  insert into contacts (workspace_id, livemode, id, email, email_key, ${STORED_COLUMNS.join(', ')},
    properties, status, unsubscribed_at, created_at, updated_at)
  select ${workspaceId}, ${livemode}, i.id, i.email, i.email_key, ${STORED_COLUMNS.map((column) => `i.${column}`).join(', ')},
    i.properties, case when ${strength('i.leaves')} > coalesce(${strength('s.reason')}, 0) then i.leaves
      else coalesce(s.reason, case when i.begins_out then 'unsubscribed' else 'subscribed' end) end,
    coalesce(s.created_at, case when i.leaves is not null then coalesce(least(i.left_at, ${now}), ${now}) when i.begins_out then ${now} end),
    ${now}, ${now}
  from ${input} i left join lateral (
    select ${learnedStatusSql('k')} as reason, ${learnedAtSql('k')} as created_at from suppressions k
    where ${livemode} and k.workspace_id = ${workspaceId} and k.address_key in (i.email_key, i.email_hash)
      and ${learnedStatusSql('k')} is not null
    order by ${strength(learnedStatusSql('k'))} desc limit 1
  ) s on true
  where ${creates} and i.is_refused is null and i.email_key not in (select email_key from known)
  on conflict (workspace_id, livemode, email_key) do nothing
  returning id, email_key, status
), suppressed as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at, unsubscribed_at)
  select ${workspaceId}, coalesce(k.address_key, i.email_key), case when k.address_key is null then i.email end, i.leaves, null,
    coalesce(least(i.left_at, ${now}), ${now}),
    case when i.has_unsubscribed and i.leaves <> 'unsubscribed' then coalesce(least(i.left_at, ${now}), ${now}) end
  from ${input} i left join lateral (
    select hashed.address_key from suppressions hashed
    where i.is_refused and hashed.workspace_id = ${workspaceId} and hashed.address_key = i.email_hash
      and i.email_key not in (select email_key from known)
  ) k on true
  where ${livemode} and i.leaves is not null
    ${leavesAnyway ? '' : 'and i.email_key not in (select email_key from fitting where not is_merged)'}
  order by coalesce(k.address_key, i.email_key)
  ${enterReasonSql('s')}
), remembered as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data, position${clock ? ', test_clock_id, awaits_clock' : ''})
  select c.id, 'act_' || substr(c.id, 5), ${livemode}, ${origin.type}, ${now}, ${origin.subject},
    (select json_build_object('consent', p.consents -> c.email_key) from places p where p.consents -> c.email_key is not null),
    (select event_position())${clock ? `, ${clock}, true` : ''}
  from created c
), left_before as materialized (
  select c.id as contact_id, f.audience_id, f.left_at
  from leavings_of(${workspaceId}, ${livemode}, array(
    select i.email_hash from ${input} i join created c on c.email_key = i.email_key
  )) f join ${input} i on i.email_hash = f.address_hash join created c on c.email_key = i.email_key
), left_again as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject, data, position)
  select contact_id, 'act_' || substr(contact_id, 5, 10) || substr(md5(contact_id || audience_id), 1, 14), ${livemode}, 'left', left_at,
    audience_id, json_build_object('source', '${EARLIER_CONTACT}'), (select event_position())
  from left_before
), ${
  clock
    ? `clocked as (
  insert into test_clock_contacts (contact_id, test_clock_id) select c.id, ${clock} from created c
), `
    : ''
}written as (
  select ord, known_id as id, case when is_refused then 'refused' when not ${merges} then 'known' when fits then 'updated' else 'full' end as outcome
  from fitting
  union all
  select ord, null, 'refused' from ${input} where is_refused and email_key not in (select email_key from known)
  union all
  select ((select p.of from places p) ->> email_key)::integer, id, 'created' from created
)`;

/**
 * $1 the contacts, $2 workspace, $3 environment, $4 now, $5 whether known ones are merged, $6 on: the reply,
 * which names contacts and holds nothing personal: who is forgotten must not live on in it for a day.
 */
const writing = (clock?: string): string => `with input as materialized (
  select * from json_to_recordset($1::text::json) as i(${CONTACT_INPUT_COLUMNS})
), ${writeContactsSql({ workspaceId: '$2::text', livemode: '$3::boolean', now: '$4::timestamptz', merges: '$5::boolean', ...(clock && { clock }) })}, kept as (
  ${keepReplySql({
    from: `(select json_agg(json_build_array(ord, id, outcome)) as outcomes from written where outcome in ('created', 'updated')) w`,
    reply: 'outcomes::text',
    first: 6,
  })} and outcomes is not null
)
select ord, id, outcome from written`;

/** The statement of requests. */
export const WRITE_CONTACTS = writing();
/** The same for contacts of a test clock, $13. */
export const WRITE_CLOCKED_CONTACTS = writing('$13::text');
