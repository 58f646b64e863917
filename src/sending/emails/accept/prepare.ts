import type { SenderDefaults } from '../../../http/auth/principal.ts';
import type { Recollection } from '../../../http/auth/recollection.ts';
import type { MarkdownRenderer } from '../../../mail/content/markdown-renderer.ts';
import type { GivenUp, HangUpSignal } from '../../../platform/async/deadline.ts';
import type { PlanName } from '../../../platform/config/plans.ts';
import { Failure, invalidAt } from '../../../platform/errors/failure.ts';
import { type RawRequest, readRawRequest } from '../raw/raw-request.ts';
import { type ForwardRequest, readForwardRequest } from './forward.ts';
import type { RenderedMarkdown } from './message.ts';
import { type ReplySender, replyDomainOf } from './reply-to.ts';
import { readSendRequest, type SendRequest } from './request.ts';
import type { SendBody } from './request-model.ts';
import {
  type Circumstances,
  type FilledRequest,
  type FillTemplate,
  fillRequest,
  type TestForm,
} from './templated.ts';

/** A domain that may send now. */
export interface SendingDomain {
  readonly id: string;
}

/**
 * The workspace and environment that an email is accepted for, whichever way the request came: HTTP, SMTP, a
 * campaign.
 */
export interface EmailSender {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly plan: PlanName;
  /** Absent for a sender whose emails always name theirs. */
  readonly senderDefaults?: SenderDefaults;
  /** True when the sender comes from the cache: the insert checks it. */
  readonly recollection?: Recollection;
}

/** The services by which an email is prepared. */
export interface PreparationDeps {
  readonly simulatorDomain: string;
  /** The verified domain of a workspace with that name (lower-case ASCII); null when there is none. */
  findSendingDomain(workspaceId: string, name: string): Promise<SendingDomain | null>;
  /**
   * The domain that takes the replies to a sender's emails; null when none receives. @throws UnavailableError
   */
  findReplyDomain(sender: ReplySender): Promise<string | null>;
  /** Renders a template with the values of a request. */
  readonly fillTemplate: FillTemplate;
  readonly renderMarkdown: MarkdownRenderer['render'];
}

/** The source of an email. */
export interface PreparationRequest {
  readonly sender: EmailSender;
  /** Already checked against the schema. */
  readonly body: SendBody;
  /** A message that is to stay what it is; of the body only what it asks besides counts. */
  readonly raw?: RawRequest | undefined;
  /** A received message that is forwarded, in place of both. */
  readonly forward?: ForwardRequest | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** JSON pointer of the body, the prefix of every reported path: `/body`, `/body/emails/3`. */
  readonly at: string;
  /** The most recipients that it may have, where those of a request in JSON are too few. */
  readonly mostRecipients?: number;
  /** The version of its template; the one that is sent by default. */
  readonly templateVersion?: number;
  /** The marks of a test for colleagues; absent of any other email. */
  readonly test?: TestForm;
  /** The variables of its template besides those of the body. */
  readonly circumstances?: Circumstances;
  /**
   * True where its template may be one that was found before, and is judged again when the email is accepted.
   */
  readonly mayBeRemembered?: boolean;
  /** Aborts while the Markdown of a request waits, once its client is gone. */
  readonly unheard?: HangUpSignal | undefined;
  readonly isGivenUp?: GivenUp | undefined;
}

/** An email of which everything is known but whether it is accepted. */
export interface PreparedEmail {
  readonly request: SendRequest;
  readonly filled: FilledRequest | null;
  /** Null for test mail. */
  readonly domain: SendingDomain | null;
  readonly rendered: RenderedMarkdown | null;
  /** The domain of its reply address; null where it asks for none. */
  readonly replyDomain: string | null;
}

/** Reads, fills in and renders an email, or refuses it. Writes nothing. @throws UnavailableError */
export async function prepare(
  deps: PreparationDeps,
  asked: PreparationRequest,
): Promise<PreparedEmail | Failure> {
  const { sender, body, now, at, mostRecipients } = asked;
  const { senderDefaults: defaults } = sender;
  const { simulatorDomain } = deps;
  const read = asked.forward
    ? readForwardRequest(asked.forward, simulatorDomain)
    : asked.raw
      ? readRawRequest(asked.raw, body, { now, simulatorDomain })
      : readSendRequest(body, { now, simulatorDomain, at, defaults, mostRecipients });
  if (read instanceof Failure) return read;
  const filled = read.template ? await fillRequest(deps.fillTemplate, read, asked) : null;
  if (filled instanceof Failure) return filled;
  const request = filled?.request ?? read;
  const { messageId, from } = request;
  // The sender may be that of the template.
  if (messageId !== null && messageId.host !== from.domain)
    return invalidAt(`${at}/messageId`, `${ELSEWHERE}, @${from.domain}.`);
  const domain = sender.livemode ? await domainOf(deps, sender, request) : null;
  if (sender.livemode && !domain)
    // The sender may be that of a template which has changed since it was remembered.
    return filled && filled.rememberedRevision !== null
      ? prepare(deps, { ...asked, mayBeRemembered: false })
      : UNVERIFIED;
  const replyDomain = await replyDomainOf(
    deps.findReplyDomain,
    request.replyTo,
    { workspaceId: sender.workspaceId, livemode: sender.livemode, domain: from.domain },
    `${at}/replyTo`,
  );
  if (replyDomain instanceof Failure) return replyDomain;
  const rendered =
    request.markdown === null
      ? null
      : await deps.renderMarkdown(request.markdown, {
          owner: sender.workspaceId,
          title: request.subject ?? '',
          path: `${at}/markdown`,
          unheard: asked.unheard,
        });
  if (rendered instanceof Failure) return rendered;
  return { request, filled, domain, rendered, replyDomain };
}

const ELSEWHERE = 'Must be at the domain of the sender';
/**
 * The domain that an email is sent for; null unless all whom it names as its senders are at domains that may
 * send.
 */
async function domainOf(
  { findSendingDomain }: PreparationDeps,
  { workspaceId }: EmailSender,
  { from, raw }: SendRequest,
): Promise<SendingDomain | null> {
  // Its author is a stranger: the domain that it came to sends it.
  if (raw?.forward) return findSendingDomain(workspaceId, raw.forward.domain);
  const others = new Set((raw?.senders ?? []).map(({ domain }) => domain));
  others.delete(from.domain);
  for (const name of others) if (!(await findSendingDomain(workspaceId, name))) return null;
  return findSendingDomain(workspaceId, from.domain);
}

const UNVERIFIED = new Failure('FORBIDDEN', 'The domain of the sender is not verified in this workspace.', {
  suggestion:
    'Add the domain of the from address with POST /v1/domains, set its DNS records and verify it; or use a test key, which accepts any sender.',
});
