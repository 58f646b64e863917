import type { Call } from '../../../http/request/route.ts';
import type { Sealer } from '../../../platform/crypto/sealer.ts';
import { mintId } from '../../../platform/db/ids.ts';
import { type Failure, notFound } from '../../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import { enterReasonSql, forgottenKey, unsubscribedAtSql } from '../../../sending/suppressions/queries.ts';
import type { ContactCommands } from '../lists/contact-rows.ts';
import { findContact } from '../lists/contact-rows.ts';
import { type Eraser, NOT_BEGUN, sealPerson } from './eraser.ts';

/** The services that forgetting a contact calls. */
export interface ForgetDeps extends ContactCommands {
  readonly sealer: Sealer;
  readonly eraser: Pick<Eraser, 'wake'>;
}

/**
 * $1 workspace, $2 environment, $3 the contact, $4 now, $5 the keyed hash of the address, $6 id of the
 * erasure, $7 the sealed person, $8 below which emails are looked through, $9 the address as it stands in
 * filters. A person who had left, bounced or complained, or was suppressed manually, leaves a keyed hash with
 * the strongest of these reasons; one who had left audiences leaves it with these. The row of the contact is
 * locked by then, as in all statements that leave an audience.
 */
const FORGET = `with gone as (
  delete from contacts where workspace_id = $1 and livemode = $2::boolean and id = $3
  returning id, email_key, status
), no_member as (
  delete from audience_members m using gone g where m.contact_id = g.id
), no_match as (
  delete from audience_matches m using gone g where m.workspace_id = $1 and m.livemode = $2::boolean and m.contact_id = g.id
), no_clock as (
  delete from test_clock_contacts t using gone g where t.contact_id = g.id
), not_asked as (
  delete from confirmations w using gone g where w.contact_id = g.id
), no_view as (
  delete from saved_views v using gone g where v.workspace_id = $1 and strpos(lower(v.search), $9) > 0
), shown as (
  delete from suppressions s using gone g
  where $2::boolean and s.workspace_id = $1 and s.address_key = g.email_key
  returning s.reason, s.created_at, s.unsubscribed_at, s.complained_at
), reasons as (
  select reason, created_at, ${unsubscribedAtSql('shown')} as unsubscribed_at, complained_at from shown
  union all select status, $4::timestamptz, case status when 'unsubscribed' then $4::timestamptz end, null
  from gone where $2::boolean and status <> 'subscribed'
), hidden as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at, unsubscribed_at, complained_at)
  select $1, $5, null, reason, null, created_at,
    case when reason <> 'unsubscribed' then min(unsubscribed_at) over () end,
    case when reason <> 'complained' then min(complained_at) over () end
  from reasons
  order by reason = 'complained' desc, reason = 'manual' desc, reason = 'bounced' desc limit 1
  ${enterReasonSql('s')}
), begun as (
  insert into erasures (id, workspace_id, livemode, contact_id, sealed, below, next_at)
  select $6, $1, $2::boolean, id, $7, $8, $4::timestamptz from gone
)
select id, remember_leavings($1, $2::boolean, id, $5) from gone`;

/**
 * Forgets a contact. Its data, activity and memberships are deleted before the answer. The eraser replaces
 * its address in emails, and continues after a crash.
 */
export async function forgetContact(
  { database, signer, sealer, eraser }: ForgetDeps,
  { caller, params, now }: Call<{ readonly contact: string }>,
): Promise<null | Failure> {
  const contact = await findContact({ database }, caller, params.contact);
  const address = contact && parseAddress(contact.email);
  if (!address || isProblem(address)) return notFound('contact');
  const { workspaceId, livemode } = caller;
  const rows = await database.query(FORGET, [
    workspaceId,
    livemode,
    contact.id,
    new Date(now).toISOString(),
    forgottenKey(signer, workspaceId, address.key),
    mintId('era', now),
    sealPerson(sealer, { address: address.address, key: address.key }),
    // Whatever was accepted before this ends may have a later id: the eraser, which comes afterwards, says
    // from where on it looks.
    NOT_BEGUN,
    new URLSearchParams([['', address.address.toLowerCase()]]).toString().slice(1).toLowerCase(),
  ]);
  eraser.wake();
  return rows.length > 0 ? null : notFound('contact');
}
