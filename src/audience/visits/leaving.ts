import type { Engine } from '../../engine/engine.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { isForgotten } from '../../platform/text/forgotten.ts';
import type { Destination } from '../../sending/emails/queries.ts';
import type { LeaveByMail } from '../../sending/inbound/commands.ts';
import { suppress, suppressHash } from '../../sending/suppressions/commands.ts';
import { findKnownAgain, forgottenHash, type OwnLeaving } from '../../sending/suppressions/queries.ts';
import type { ExitTarget } from '../../sending/tracking/api.ts';
import { leaveAudience } from '../audiences/commands.ts';
import { findAudienceRow } from '../audiences/queries.ts';
import { leaveAgain } from '../contacts/commands.ts';
import { findContact } from '../contacts/queries.ts';

/** The services that unsubscribing calls. */
export interface LeavingDeps {
  readonly database: Database;
  readonly engine: Engine;
  readonly signer: Signer;
}

/** The way by which a recipient unsubscribes: a button of the mail program, or the page behind the link. */
type LeavingSource = 'oneClick' | 'page';

/** A person who unsubscribes, and the copy of an email by which they do. */
interface Departure {
  readonly copy: Destination;
  readonly exit: Omit<ExitTarget, 'language'>;
  readonly source: LeavingSource;
}

/** $1 an email, $2 the index of a recipient, $3 the key of its address. */
const REPLACED =
  'select recipient_keys[$2::integer + 1] is distinct from $3 as is_replaced from emails where id = $1';

/**
 * True when an email no longer names the person that its link was made for: that person has been forgotten.
 */
async function isReplaced(
  database: Database,
  { emailId, recipient }: Destination,
  key: string,
): Promise<boolean> {
  const [row] = await database.query<{ is_replaced: boolean }>(REPLACED, [emailId, recipient, key]);
  return row?.is_replaced ?? false;
}

/** Leaves the audience of a campaign; false where that has none that can be left. */
async function leaveList(
  database: Database,
  { workspaceId, address, list }: Departure['exit'],
  now: number,
  own: OwnLeaving,
): Promise<boolean> {
  const scope = { workspaceId, livemode: true };
  const audience = list && (await findAudienceRow({ database }, scope, list.audienceId));
  const contact = audience && (await findContact({ database }, scope, address));
  if (!contact || audience.type !== 'static') return false;
  await leaveAudience(database, {
    ...scope,
    audienceId: audience.id,
    contactId: contact.id,
    now,
    own,
  });
  return true;
}

/**
 * Unsubscribes a person, and gives the key of the address. An unsubscription must not be lost: while the
 * database is away it rejects, and the client tries again. @throws UnavailableError
 */
export async function leave(
  { database, engine, signer }: LeavingDeps,
  { copy, exit, source }: Departure,
  now: number,
): Promise<string> {
  const { workspaceId, address, list } = exit;
  const { audienceId = null, campaignId = null } = list ?? {};
  const data = { source, campaignId, audienceId };
  const suppresses = !(await leaveList(database, exit, now, { source, campaignId }));
  const report = { type: 'unsubscribed' as const, recipient: copy.recipient, suppresses, data };
  const event = { type: 'report.received', at: now, report } as const;
  const result = await engine.tell('email', copy.emailId, event);
  const mailbox = parseAddress(address);
  const key = isProblem(mailbox) ? address : mailbox.key;
  const hasBeenForgotten = suppresses && (await isReplaced(database, copy, key));
  // The email may be long deleted, or not yet known to have left, or no longer name a person who has
  // been forgotten: the address is suppressed all the same. Of a forgotten person only the hash is
  // kept, unless they are a contact again; and where it is known, the address does not come back beside it.
  if (suppresses && (hasBeenForgotten || result.outcome !== 'changed')) {
    const contact = await findContact({ database }, { workspaceId, livemode: true }, key);
    await suppress(database, {
      workspaceId,
      address,
      emailId: copy.emailId,
      reason: 'unsubscribed',
      at: now,
      knownBy: signer,
      hiddenBy: hasBeenForgotten && !contact ? signer : null,
    });
    if (contact) {
      const left = { workspaceId, contactId: contact.id, emailId: copy.emailId, campaignId, data };
      await leaveAgain(database, left, now);
    }
  }
  return key;
}

interface LeaverRow {
  readonly workspace_id: string;
  readonly address: string | null;
  readonly key: string;
  readonly campaign_id: string | null;
}

/** $1 an email, $2 the index of a recipient. */
const LEAVER =
  'select workspace_id, recipients[$2::integer + 1] as address, recipient_keys[$2::integer + 1] as key, campaign_id from emails where id = $1 and livemode';

/**
 * Unsubscribes a forgotten person, who is no contact and no member of an audience any more: from everything,
 * as the link does.
 */
async function leaveForgotten(
  { database, engine }: LeavingDeps,
  {
    copy,
    workspaceId,
    hash,
  }: { readonly copy: Destination; readonly workspaceId: string; readonly hash: string },
  now: number,
): Promise<void> {
  await suppressHash(database, { workspaceId, hash, reason: 'unsubscribed', at: now });
  const data = { source: 'oneClick', campaignId: null, audienceId: null };
  const report = { type: 'unsubscribed' as const, recipient: copy.recipient, suppresses: false, data };
  await engine.tell('email', copy.emailId, { type: 'report.received', at: now, report });
}

/** Unsubscribes by mail. `audienceOf` finds the audience that a recipient of a campaign can leave. */
export const leavingByMail =
  (
    deps: LeavingDeps,
    audienceOf: (campaignId: string) => Promise<string | null>,
    now: () => number,
  ): LeaveByMail =>
  async (copy) => {
    const [row] = await deps.database.query<LeaverRow>(LEAVER, [copy.emailId, copy.recipient]);
    if (!row?.address) return false;
    const { workspace_id: workspaceId, campaign_id: campaignId } = row;
    let { address } = row;
    if (isForgotten(address)) {
      const hash = forgottenHash(deps.signer, copy, row.key);
      if (hash === null) return false;
      const contact = await findKnownAgain(deps, { workspaceId, hash, emailId: copy.emailId });
      if (!contact) {
        await leaveForgotten(deps, { copy, workspaceId, hash }, now());
        return true;
      }
      address = contact.email;
    }
    const audienceId = campaignId === null ? null : await audienceOf(campaignId);
    const list = campaignId !== null && audienceId !== null ? { campaignId, audienceId } : null;
    await leave(deps, { copy, exit: { workspaceId, address, list }, source: 'oneClick' }, now());
    return true;
  };
