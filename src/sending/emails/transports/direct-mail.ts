import { and, eq, inArray } from 'drizzle-orm';
import { leaves } from '../../../mail/transport/traits.ts';
import type { OutboundMessage, Outcome, Transport } from '../../../mail/transport/transport.ts';
import type { Database } from '../../../platform/db/database.ts';
import { domains } from '../../../platform/db/schema/domains.ts';
import { workspaces } from '../../../platform/db/schema/workspaces.ts';
import { isProblem, parseAddress } from '../../../platform/text/address.ts';
import type { SendingDomain } from '../accept/prepare.ts';
import type { Sender } from '../send/message.ts';
import type { Senders } from './senders.ts';

/** A message of the service itself. It is no email of a workspace: it is in no log and counts nowhere. */
export interface DirectMessage {
  readonly id: string;
  /** The workspace whose sender it has if possible; null for the operator's. */
  readonly workspaceId: string | null;
  /**
   * True where the operator's sender comes first: servers return what they cannot deliver to the domain of
   * the sender.
   */
  readonly prefersOperator: boolean;
  readonly to: string;
  /** Epoch milliseconds; the same in every attempt. */
  readonly at: number;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Attempts such a message once. `captured`: nothing leaves this installation. */
export type DirectMail = (message: DirectMessage) => Promise<Outcome | 'captured' | 'no sender'>;

/** The services and settings that such messages are sent with. */
export interface DirectMailParts {
  readonly database: Database;
  readonly senders: Senders;
  /** The transport of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  findSendingDomain(workspaceId: string, name: string): Promise<SendingDomain | null>;
  /** The operator's own sender; null without one. */
  readonly operator: string | null;
}

interface Way {
  readonly from: OutboundMessage['from'];
  readonly sender: Pick<Sender, 'dkim' | 'returnPath' | 'provider'>;
}

const PATIENCE_MS = 30_000;

/**
 * Sends messages of the service: from the default sender of the workspace while its domain may send, and from
 * the operator's.
 */
export function directMail({
  database,
  senders,
  transport,
  findSendingDomain,
  operator,
}: DirectMailParts): DirectMail {
  const wayFrom = async (
    text: string | null,
    domainOf: (name: string) => Promise<{ readonly id: string } | null>,
  ): Promise<Way | null> => {
    const address = text === null ? null : parseAddress(text);
    if (!address || isProblem(address)) return null;
    const domain = await domainOf(address.domain);
    const sender = domain ? await senders.find(domain.id) : 'removed';
    if (typeof sender !== 'string') return { from: address, sender };
    // The operator may send by a relay that signs; a workspace only what it has proved.
    const unsigned = { dkim: [], returnPath: address.domain, provider: null };
    return text === operator ? { from: address, sender: unsigned } : null;
  };

  const wayOf = async (workspaceId: string | null, prefersOperator: boolean): Promise<Way | null> => {
    const [workspace] =
      workspaceId === null
        ? []
        : await database.read((orm) =>
            orm
              .select({ defaultFrom: workspaces.defaultFrom })
              .from(workspaces)
              .where(eq(workspaces.id, workspaceId)),
          );
    const own = (name: string) => findSendingDomain(workspaceId ?? '', name);
    const ofAnyWorkspace = async (name: string) => {
      const maySend = inArray(domains.state, ['verified', 'temporaryFailure']);
      const [domain] = await database.read((orm) =>
        orm
          .select({ id: domains.id })
          .from(domains)
          .where(and(eq(domains.name, name), maySend))
          .orderBy(domains.id)
          .limit(1),
      );
      return domain ?? null;
    };
    const ways = [
      () => wayFrom(workspace?.defaultFrom ?? null, own),
      () => wayFrom(operator, ofAnyWorkspace),
    ] as const;
    const [first, second] = prefersOperator ? [ways[1], ways[0]] : ways;
    return (await first()) ?? (await second());
  };

  return async ({ id, workspaceId, prefersOperator, to, at, subject, html, text }) => {
    const way = await wayOf(workspaceId, prefersOperator);
    if (!way) return 'no sender';
    const { from, sender } = way;
    const by = transport(sender.provider);
    if (!leaves(by.name)) return 'captured';
    const message: OutboundMessage = {
      emailId: id,
      attempt: 1,
      from,
      to: [{ name: null, address: to }],
      cc: [],
      bcc: [],
      replyTo: [],
      recipients: [to],
      subject,
      text,
      html,
      attachments: [],
      unsubscribe: null,
      dkim: sender.dkim,
      // RFC 3834 5: no answering machine answers it.
      headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
      messageId: `<${id}@${from.address.split('@').at(-1)}>`,
      date: at,
      returnPath: `postmaster@${sender.returnPath}`,
    };
    const limits = { signal: AbortSignal.timeout(PATIENCE_MS), deadlineMs: PATIENCE_MS };
    const [outcome] = await by.send(message, limits);
    return outcome?.outcome ?? 'deferred';
  };
}
