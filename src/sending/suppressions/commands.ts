import type { SuppressionReason } from '../../../machines/email/rules.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, IdempotencyClaim, Replay } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { contactsLeaveSql } from './contacts-leave.ts';
import { type ForgottenPerson, findKnownAgain } from './known-again.ts';
import { OWN_ACTS, type SuppressBody, type SuppressionRow, type SuppressionView, viewOf } from './model.ts';
import { forgottenKey } from './queries.ts';
import { enterReasonSql, removeReasonSql, TOLD_TO_SES } from './reasons.ts';
import { noteRemovalSql, removalParameters } from './ses-removals.ts';

/** The services that changing suppressions calls. */
export interface SuppressionCommands {
  readonly database: Database;
  readonly signer: Signer;
  readonly sealer: Sealer;
  /** True when Amazon SES is one of the transports. */
  readonly tellsSes: boolean;
}

/** The HTTP status of adding a suppression, the first time and again. */
const CREATED = 201;

/** An address that is to get no more mail. */
export interface ToSuppress {
  readonly workspaceId: string;
  /** The address as parseAddress reads it. */
  readonly address: string;
  readonly reason: SuppressionReason;
  readonly emailId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Makes the keyed hash that is stored in place of a forgotten person's address. */
  readonly hiddenBy?: Signer | null;
  /**
   * Finds the entry of an address that is known by its hash alone, so that the address is not stored again
   * beside it.
   */
  readonly knownBy?: Signer;
}

/** A link outlives its workspace: of one that is gone nothing is stored again. */
const SUPPRESS = `with entry as (
  insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at)
  select $1, coalesce(k.address_key, $2), case when k.is_hidden then null else $3 end, $4, $5, $6::timestamptz
  from (select) one left join lateral (
    select address_key, address_key = $7 as is_hidden from suppressions
    where workspace_id = $1 and address_key in ($2, $7) order by address_key = $2 desc limit 1
  ) k on true
  where exists (select from workspaces where id = $1 and erase_at is null)
  ${enterReasonSql('s', { returnsAlways: true })}
  returning reason, email_id, (extract(epoch from created_at) * 1000)::float8 as created_at,
    complained_at is not null as complained, unsubscribed_at is not null as unsubscribed
), gone as (
  ${contactsLeaveSql('(select $1::text as workspace_id, $2::text as email_key, $4::text as reason, $6::timestamptz as at)')}
), kept as (
  ${keepReplySql({ from: 'entry', reply: 'row_to_json(entry)::text', first: 8 })}
)
select reason, email_id, created_at, complained, unsubscribed from entry`;

/**
 * A person who was forgotten and is known again may have two rows, of which the one by the hash shows no
 * address. An act of the person there stays when another reason is removed by the address, as if it were
 * beneath that.
 */
const IS_SEEN = `(s.reason not in (${OWN_ACTS.map((act) => `'${act}'`).join(', ')}) or not exists (
  select from suppressions shown where shown.workspace_id = $1 and shown.address_key = $2 and s.address_key = $3 and shown.reason <> s.reason))`;

/**
 * The hash is all that is left of a forgotten person: of the contact, whose status would outlive the removal,
 * as well. So the removal takes back no unsubscription there, and of a complaint that much stays, unless the
 * person is a contact again.
 */
const IS_ALL_LEFT = `s.address_key = $3 and not exists (
  select from contacts c where c.workspace_id = $1 and c.livemode and c.email_key = $2)`;
const IS_REMOVED = `${IS_SEEN} and not (s.reason = 'unsubscribed' and ${IS_ALL_LEFT})`;

const ROWS = 's.workspace_id = $1 and s.address_key in ($2, $3)';

const FORGET = `with ${removeReasonSql({ rows: ROWS, isRemoved: IS_REMOVED, keepsLeaving: IS_ALL_LEFT })}, noted as (
  ${noteRemovalSql(TOLD_TO_SES, { id: '$4', sealed: '$5', at: '$6::timestamptz' })}
)
select exists (select from lifted) as is_lifted from suppressions s where ${ROWS} limit 1`;

const FORGOTTEN = new Failure(
  'CONFLICT',
  'The person unsubscribed and was forgotten since; that is kept until they consent.',
  {
    suggestion:
      'Add the address as a contact, and set its status to subscribed with PATCH /v1/contacts/{contact} and their consent.',
  },
);

/**
 * Suppresses an address; null when the text is none. Doing so again changes nothing. The reply of a request
 * with a key is stored in the same statement. @throws UnavailableError, or when the key has been taken before
 */
export async function suppress(
  database: Database,
  { workspaceId, address, reason, emailId, at, hiddenBy = null, knownBy }: ToSuppress,
  claim: IdempotencyClaim | null = null,
): Promise<SuppressionView | null> {
  const read = parseAddress(address);
  if (isProblem(read)) return null;
  const keyed = { scope: { workspaceId, livemode: true }, claim, now: at };
  const [row] = await database.query<SuppressionRow>(SUPPRESS, [
    ...(hiddenBy
      ? [workspaceId, forgottenKey(hiddenBy, workspaceId, read.key), null, reason, null]
      : [workspaceId, read.key, read.address, reason, emailId]),
    new Date(at).toISOString(),
    knownBy ? forgottenKey(knownBy, workspaceId, read.key) : null,
    ...replyParameters(keyed, CREATED),
  ]);
  return row ? viewOf({ ...row, address: read.address }) : null;
}

/** A forgotten person who is to get no more mail. */
export interface ToSuppressForgotten extends ForgottenPerson, Pick<ToSuppress, 'reason' | 'at'> {}

/**
 * Suppresses a forgotten person. One who is a contact again is suppressed by the address: the status of the
 * contact says so, and keeps list mail away once the suppression is removed. Doing so again changes nothing.
 * @throws UnavailableError
 */
export async function suppressForgotten(
  deps: { readonly database: Database; readonly signer: Signer },
  person: ToSuppressForgotten,
): Promise<void> {
  const { database, signer } = deps;
  const { workspaceId, reason, at } = person;
  const contact = await findKnownAgain(deps, person);
  if (!contact) return suppressHash(database, person);
  const { email: address } = contact;
  await suppress(database, { workspaceId, address, reason, emailId: null, at, knownBy: signer });
}

/** Suppresses a person of whom only the hash is known, and who is no contact. @throws UnavailableError */
export async function suppressHash(
  database: Database,
  { workspaceId, hash, reason, at }: Omit<ToSuppressForgotten, 'emailId'>,
): Promise<void> {
  await database.query(SUPPRESS, [
    workspaceId,
    hash,
    null,
    reason,
    null,
    new Date(at).toISOString(),
    null,
    ...replyParameters({ scope: { workspaceId, livemode: true }, claim: null, now: at }, CREATED),
  ]);
}

/** Suppresses an address on request. */
export async function suppressAddress(
  { database, signer }: SuppressionCommands,
  call: Call<unknown, unknown, SuppressBody>,
): Promise<SuppressionView | Failure | Replay> {
  const { caller, body, claim, now } = call;
  const read = parseAddress(body.address);
  if (isProblem(read)) return invalidAt('/body/address', read.problem);
  const { workspaceId } = caller;
  const entry = {
    workspaceId,
    address: read.address,
    reason: body.reason ?? 'manual',
    emailId: null,
    at: now,
    knownBy: signer,
  } as const;
  return idempotently(database, keyedBy(call), {
    run: async () => (await suppress(database, entry, claim)) ?? notFound('suppression'),
    // The stored reply lacks the address, so that a forgotten person's address does not stay in it; the
    // request has it again.
    open: (reply) => viewOf({ ...(JSON.parse(reply) as SuppressionRow), address: read.address }),
  });
}

/**
 * Lets mail reach an address again, unless the person has unsubscribed or complained as well: then that is
 * the reason.
 */
export async function forgetSuppression(
  { database, signer, sealer, tellsSes }: SuppressionCommands,
  { caller, params, now }: Call<{ readonly address: string }>,
): Promise<null | Failure> {
  const read = parseAddress(params.address);
  if (isProblem(read)) return notFound('suppression');
  const hash = forgottenKey(signer, caller.workspaceId, read.key);
  const [found] = await database.query<{ is_lifted: boolean }>(FORGET, [
    caller.workspaceId,
    read.key,
    hash,
    ...removalParameters({ sealer, tellsSes }, read.address, now),
    new Date(now).toISOString(),
  ]);
  if (!found) return notFound('suppression');
  return found.is_lifted ? null : FORGOTTEN;
}
