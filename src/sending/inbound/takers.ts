import { Refusal } from '../../mail/inbound/smtp-server.ts';
import { tokenOf } from '../../mail/inbound/verp.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { verifiedAtHost } from '../domains/queries.ts';
import { isReturnToken } from '../emails/queries.ts';
import type { InboundRoutesApi } from '../inbound-routes/api.ts';
import {
  type ReceivingRoute,
  readRecipient,
  repliedEmailOf,
  routesOfOwner,
  takingRoute,
} from '../inbound-routes/queries.ts';
import type { TakenRecipient } from '../received/api.ts';
import { readLeaveAddress } from '../tracking/api.ts';

/** The services that looking up a recipient calls. */
export interface TakerParts extends Pick<InboundRoutesApi, 'receivingRoutes'> {
  readonly signer: Signer;
  readonly now: () => number;
}

/** The mailboxes that receive complaints besides the return path; RFC 2142 4 and 5 name two of them. */
const REPORTS = /^(abuse|postmaster|fbl|complaints)@/i;

/** A DNS record that is gone for a while must not bounce the mail of a domain. */
const NOT_PROVEN = new Refusal(451, '4.3.0 This domain is not verified now, please try again later');

/** True for an address that takes reports: a return path, or one for complaints. */
export function isForReports({ signer, now }: Pick<TakerParts, 'signer' | 'now'>, address: string): boolean {
  const token = tokenOf(address);
  return token === null ? REPORTS.test(address) : isReturnToken(token, signer, now());
}

/**
 * The same for an address that any server may try: one for complaints only at a host of this service, which
 * are the names and return paths of proven domains, and the service's own name (RFC 5321 4.5.1). @throws
 * UnavailableError
 */
export async function takesReportsHere(
  { database, name, ...parts }: Pick<TakerParts, 'signer' | 'now'> & { database: Database; name: string },
  address: string,
): Promise<boolean> {
  if (!isForReports(parts, address)) return false;
  if (tokenOf(address) !== null) return true;
  const host = readRecipient(address)?.domain ?? null;
  return host !== null && (host === name.toLowerCase() || (await verifiedAtHost(database, host)).length > 0);
}

/** A route that takes mail to an address. */
interface FoundTaker extends TakenRecipient {
  /** False while it is not known whose the mail is. */
  readonly isSettled: boolean;
}

/**
 * The route that takes mail to an address, with the recipient, where it is one of the workspace; null is
 * every workspace. A workspace learns nothing of mail that waits for another one. @throws UnavailableError
 */
export async function takerOf(
  { receivingRoutes, signer, now }: TakerParts,
  address: string,
  workspaceId: string | null,
): Promise<FoundTaker | null> {
  const token = tokenOf(address);
  const recipient = readRecipient(address);
  // A return path, or an address to unsubscribe, is no address of a route, whichever domain it is at.
  if (!recipient || (token !== null && isReturnToken(token, signer, now()))) return null;
  if (readLeaveAddress(address, signer)) return null;
  const known = await receivingRoutes.of(recipient.domain);
  // A reply goes to the workspace that its address names. The owner of the domain gets none, not even by a
  // catchAll.
  const replied = repliedEmailOf(recipient, signer);
  const { routes, isSettled } = replied
    ? promisedOf(known.filter((route) => replied.isOf(route)))
    : routesOfOwner(known);
  // Unsettled routes are of several workspaces, each of which may turn out to be the owner.
  const own = routes.filter((route) => [null, route.workspaceId].includes(workspaceId));
  // No workspace may read what is for another.
  const route = takingRoute(own, recipient, signer);
  return route ? { route, recipient, isSettled } : null;
}

/**
 * The same in any workspace, for the port. @throws Refusal while it is not known whose the mail is,
 * UnavailableError
 */
export async function takersOf(parts: TakerParts, address: string): Promise<readonly TakenRecipient[]> {
  const found = await takerOf(parts, address, null);
  if (!found) return [];
  const { isSettled, ...taken } = found;
  if (!isSettled) throw NOT_PROVEN;
  return [taken];
}

/** The routes that take a reply to an email of their workspace. */
function promisedOf(routes: readonly ReceivingRoute[]): ReturnType<typeof routesOfOwner<ReceivingRoute>> {
  const proven = routes.filter(({ isProven }) => isProven);
  return proven.length > 0 ? { routes: proven, isSettled: true } : { routes, isSettled: false };
}
