import type { Principal } from '../../http/auth/principal.ts';
import type { Detail } from '../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../platform/text/address.ts';

/** The owner of a route. */
type Owner = Pick<Principal, 'workspaceId' | 'livemode'>;

/** True for an address that a route of that owner may forward to. @throws UnavailableError */
export type MayForward = (owner: Owner, address: Address) => Promise<boolean>;

/** The functions by which a target is known. */
interface KnownPeople {
  isMember(workspaceId: string, addressKey: string): Promise<boolean>;
  findSendingDomain(workspaceId: string, name: string): Promise<object | null>;
}

/**
 * A forward goes to people of the workspace: its members, and the mailboxes at its verified domains. Anybody
 * else has not agreed to get what strangers write. Of test mail nothing leaves.
 */
export const mayForwardTo =
  ({ isMember, findSendingDomain }: KnownPeople): MayForward =>
  async ({ workspaceId, livemode }, { key, domain }) =>
    !livemode ||
    (await isMember(workspaceId, key)) ||
    (await findSendingDomain(workspaceId, domain)) !== null;

const STRANGER =
  'Must be the address of a member of the workspace, or at a verified domain of it: a forward goes to no one else.';

/** The mistakes in the targets of a forward. @throws UnavailableError */
export async function problemsOfTargets(
  mayForward: MayForward,
  owner: Owner,
  targets: readonly string[],
): Promise<readonly Detail[]> {
  const problems: Detail[] = [];
  const seen = new Set<string>();
  for (const [index, text] of targets.entries()) {
    const path = `/body/action/to/${index}`;
    const read = parseAddress(text);
    if (isProblem(read)) problems.push({ path, message: read.problem });
    else if (seen.has(read.key)) problems.push({ path, message: 'Must not be there twice.' });
    else if (!(await mayForward(owner, read))) problems.push({ path, message: STRANGER });
    if (!isProblem(read)) seen.add(read.key);
  }
  return problems;
}
