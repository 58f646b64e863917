import type { ServiceEmail, SignInChange } from '../../accounts/service-emails.ts';
import type { Content } from './layout.ts';

/** The facts that the contents show besides their subject. */
export interface SenderNames {
  /** The name of the workspace; that of the product where there is none. */
  readonly name: string;
  readonly publicUrl: string;
}

type ContentOf<Kind extends ServiceEmail['kind']> = (
  email: Extract<ServiceEmail, { kind: Kind }>,
  sending: SenderNames,
) => Content;

const ROLES: Readonly<Record<string, string>> = {
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member',
  viewer: 'a viewer',
};

const day = (at: number): string => `${new Date(at).toUTCString().slice(0, 22)} UTC`;

const WARNED = ({ name }: SenderNames): string =>
  `You get this email as an owner or admin of ${name}. You can turn these emails off in the settings of the workspace.`;

const PAUSED: Readonly<Record<string, string>> = {
  quota_exceeded: 'The workspace has used all emails of this month.',
  bounce_rate:
    'Too many of its emails bounced. A list with many invalid addresses harms the reputation of your domain.',
  complaint_rate: 'Too many recipients reported it as spam.',
  canary: 'Its first share bounced or was reported as spam more often than you allow.',
  sender_unverified: 'Its sending domain is no longer verified.',
};

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'The password of your account was changed',
  passwordReset: 'A new password was set for your account by a link',
  authenticatorAdded: 'An authenticator was added to your account',
  authenticatorRemoved: 'The authenticator was removed from your account',
  passkeyAdded: 'A passkey was added to your account',
  passkeyRemoved: 'A passkey was removed from your account',
  codeRepeated: 'A used code of your authenticator was tried again and refused',
};

const CONTENTS: { readonly [Kind in ServiceEmail['kind']]: ContentOf<Kind> } = {
  invitation: ({ role, url, expiresAt }, { name }) => ({
    subject: `Join ${name}`,
    preview: `You are invited as ${ROLES[role] ?? role}.`,
    title: `You are invited to ${name}`,
    paragraphs: [
      `A member of ${name} has invited you as ${ROLES[role] ?? role}.`,
      `The invitation is for this address only, works once, and expires on ${day(expiresAt)}.`,
    ],
    button: { label: 'Accept invitation', url },
    foot: 'If you did not expect an invitation, ignore this email: only this link gives access.',
  }),
  passwordReset: ({ url, expiresAt }) => ({
    subject: 'Set a new password',
    preview: 'The link works once, for an hour.',
    title: 'Set a new password',
    paragraphs: [
      'A new password was requested for your account.',
      `The link works once, until ${day(expiresAt)}. If you use a second factor, you still need it.`,
    ],
    button: { label: 'Set a new password', url },
    foot: 'If this was not you, ignore this email: your password does not change.',
  }),
  signInChanged: ({ change, changedAt }, { publicUrl }) => ({
    subject: CHANGES[change],
    preview: 'If that was you, there is nothing to do.',
    title: CHANGES[change],
    paragraphs: [
      `It happened on ${day(changedAt)}.`,
      'If that was you, there is nothing to do. If it was not, set a new password, which ends all sessions, and check your authenticator and your passkeys.',
    ],
    button: { label: 'Open account', url: `${publicUrl}/app` },
    foot: 'You get this email because it is about your account. A workspace cannot turn these emails off.',
  }),
  domainLost: ({ domain, workspaceId }, sending) => ({
    subject: `${domain} cannot send any more`,
    preview: 'Its DNS records are missing or wrong.',
    title: `${domain} cannot send any more`,
    paragraphs: [
      `The DNS records of ${domain} were missing or wrong for longer than a temporary fault lasts, so ${sending.name} cannot send email from it.`,
      'Accepted emails wait, and are sent once the records are correct again. The records are checked every hour.',
    ],
    button: { label: 'Open domain', url: `${sending.publicUrl}/app/${workspaceId}/live/domains` },
    foot: WARNED(sending),
  }),
  webhookDisabled: ({ workspaceId, webhookId, livemode, url, failures, answers, disabledAt }, sending) => ({
    subject: 'A webhook endpoint was disabled',
    preview: `${failures} deliveries failed in a row.`,
    title: 'A webhook endpoint was disabled',
    paragraphs: [
      `${failures} posts in a row to ${url} failed, so the endpoint was disabled on ${day(disabledAt)}. It receives no more events.`,
      ...(answers === '' ? [] : [`Last results: ${answers}.`]),
      'Enable it once it answers again. You can replay the events that it missed, or read them from the event log.',
    ],
    button: {
      label: 'Open endpoint',
      url: `${sending.publicUrl}/app/${workspaceId}/${livemode ? 'live' : 'test'}/webhooks/${webhookId}`,
    },
    foot: WARNED(sending),
  }),
  campaignPaused: ({ workspaceId, campaign, reason, remaining }, sending) => ({
    subject: `The campaign “${campaign}” is paused`,
    preview: PAUSED[reason] ?? 'It needs your decision.',
    title: `“${campaign}” is paused`,
    paragraphs: [
      PAUSED[reason] ?? 'It stopped before its end.',
      `${remaining.toLocaleString('en')} recipients have not received it. When you resume it, it is sent only to them.`,
    ],
    button: { label: 'Open campaign', url: `${sending.publicUrl}/app/${workspaceId}/live/campaigns` },
    foot: WARNED(sending),
  }),
};

/** The content of an email. */
export const contentOf = (email: ServiceEmail, sending: SenderNames): Content =>
  (CONTENTS[email.kind] as (email: ServiceEmail, sending: SenderNames) => Content)(email, sending);
