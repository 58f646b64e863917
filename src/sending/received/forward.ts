import { findTerms } from '../../accounts/workspace/queries.ts';
import { Replay } from '../../http/request/route.ts';
import { LARGEST_MESSAGE } from '../../mail/message/message-size.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { type AcceptanceDeps, acceptEmail } from '../emails/accept.ts';
import type { MayForward } from '../inbound-routes/api.ts';
import { type Recipient, type RouteTarget, readRecipient } from '../inbound-routes/queries.ts';
import { type ContentDeps, readRaw } from './contents.ts';
import type { ReceivedRow } from './views.ts';

/** The services that forwarding calls. */
export interface ForwardDeps extends ContentDeps {
  readonly signer: Signer;
  readonly acceptance: AcceptanceDeps;
  readonly mayForward: MayForward;
  /** The name of this server in trace fields. */
  readonly serverName: string;
  readonly now: () => number;
}

/** The email that carries a message on; why none does for good; or why none does now. */
export type ForwardOutcome =
  | { readonly emailId: string }
  | { readonly stopped: 'content_expired' | 'too_large' | 'no_target' }
  | { readonly refused: string };

/** Octets of a token. Guessing one gains nothing but the refusal of the message that holds it. */
const TOKEN_BYTES = 10;

/** The token of an address that forwards, which a message that comes back to it has. */
export const forwardTokenOf = (
  signer: Signer,
  { name, domain }: Pick<Recipient, 'name' | 'domain'>,
): string => signer.sign('forwarding address', `${name}@${domain}`, TOKEN_BYTES).toString('hex');

/**
 * Hands a message to an email for the targets of its route, as they are now: who has left the workspace gets
 * nothing more. The email has the retries, the limits and the fate of each target. A repetition after a crash
 * finds the same email. @throws UnavailableError
 */
export async function forward(
  deps: ForwardDeps,
  workspaceId: string,
  row: ReceivedRow,
  { forwardTo, domainName }: RouteTarget,
): Promise<ForwardOutcome> {
  const { database, acceptance, mayForward, signer, serverName, now } = deps;
  const owner = { workspaceId, livemode: row.livemode };
  const terms = await findTerms(database, workspaceId);
  if (!terms) return { refused: 'The workspace is archived.' };
  const targets: string[] = [];
  for (const target of forwardTo ?? []) {
    const read = parseAddress(target);
    if (!isProblem(read) && (await mayForward(owner, read))) targets.push(target);
  }
  const recipient = readRecipient(row.recipient);
  if (targets.length === 0 || !recipient) return { stopped: 'no_target' };
  if (row.size > LARGEST_MESSAGE) return { stopped: 'too_large' };
  const octets = await readRaw(deps, workspaceId, row.contentId);
  if (!octets) return { stopped: 'content_expired' };
  const { summary, context, authentication } = row;
  const forwarded = authentication?.forward;
  const { results, chain = null, helo = null, client = '', protocol = 'ESMTP', tls = null } = forwarded ?? {};
  // No client can choose this key: theirs have no spaces.
  const key = `forward ${row.id} ${context.round ?? 0}`;
  const author = summary.from === null ? null : parseAddress(summary.from);
  const accepted = await acceptEmail(acceptance, {
    sender: { ...owner, ...terms },
    body: { to: [] },
    forward: {
      octets,
      targets,
      domain: domainName,
      envelopeFrom: row.envelopeFrom,
      author: author && !isProblem(author) ? author : null,
      subject: summary.subject,
      messageId: summary.messageId,
      recipient: row.recipient,
      facts: {
        token: forwardTokenOf(signer, recipient),
        seal: results !== undefined && chain !== null ? { results, chain } : null,
      },
      came: { helo, client, by: serverName, protocol, tls },
    },
    claim: { key, fingerprint: key },
    now: now(),
    at: '/body',
  });
  if (accepted instanceof Failure) return { refused: accepted.message };
  const { id } = (accepted instanceof Replay ? accepted.body : accepted) as { readonly id: string };
  return { emailId: id };
}
