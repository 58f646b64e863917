import type { ServiceEmail, SignInChange } from '../../accounts/service-emails.ts';
import type { Content } from './layout.ts';

/** The facts that the contents show besides their subject. */
export interface Sending {
  /** The name of the workspace; that of the product where there is none. */
  readonly name: string;
  readonly publicUrl: string;
}

type ContentOf<Kind extends ServiceEmail['kind']> = (
  email: Extract<ServiceEmail, { kind: Kind }>,
  sending: Sending,
) => Content;

const ROLES: Readonly<Record<string, string>> = {
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member',
  viewer: 'a viewer',
};

const day = (at: number): string => `${new Date(at).toUTCString().slice(0, 22)} UTC`;

const WARNED = ({ name }: Sending): string =>
  `You get this as an owner or admin of ${name}. Such emails can be switched off in the settings of the workspace.`;

const PAUSED: Readonly<Record<string, string>> = {
  quota_exceeded: 'The emails of this month are used up.',
  bounce_rate:
    'Too many of its emails bounced. A list with many dead addresses harms the standing of your domain.',
  complaint_rate: 'Too many recipients called it spam.',
  canary: 'The first part of it bounced or was called spam more often than you allowed.',
  sender_unverified: 'Its sender domain is not verified any more.',
};

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'The password of your account was changed',
  passwordReset: 'A new password was set for your account by a link',
  authenticatorAdded: 'An authenticator was added to your account',
  authenticatorRemoved: 'The authenticator was removed from your account',
  passkeyAdded: 'A passkey was added to your account',
  passkeyRemoved: 'A passkey was removed from your account',
  codeRepeated: 'An old code of your authenticator was tried again, and refused',
};

const CONTENTS: { readonly [Kind in ServiceEmail['kind']]: ContentOf<Kind> } = {
  invitation: ({ role, url, expiresAt }, { name }) => ({
    subject: `Join ${name}`,
    preview: `You are invited as ${ROLES[role] ?? role}.`,
    title: `You are invited to ${name}`,
    paragraphs: [
      `Somebody at ${name} has invited you as ${ROLES[role] ?? role}.`,
      `The invitation is for this address alone, works once, and ends on ${day(expiresAt)}.`,
    ],
    button: { label: 'Accept the invitation', url },
    foot: 'If you do not expect an invitation, do nothing: nobody gets in without this link.',
  }),
  passwordReset: ({ url, expiresAt }) => ({
    subject: 'Set a new password',
    preview: 'The link works once, for an hour.',
    title: 'Set a new password',
    paragraphs: [
      'Somebody has asked for a new password for your account.',
      `The link works once, until ${day(expiresAt)}. A second factor, where you use one, is still asked for.`,
    ],
    button: { label: 'Set a new password', url },
    foot: 'If that was not you, do nothing: your password stays as it is.',
  }),
  signInChanged: ({ change, changedAt }, { publicUrl }) => ({
    subject: CHANGES[change],
    preview: 'If that was you, there is nothing to do.',
    title: CHANGES[change],
    paragraphs: [
      `It happened on ${day(changedAt)}.`,
      'If that was you, there is nothing to do. If it was not, set a new password, which ends all sessions, and look at your authenticator and your passkeys.',
    ],
    button: { label: 'Look at your account', url: `${publicUrl}/app` },
    foot: 'You get this because it is your account: these emails cannot be switched off by a workspace.',
  }),
  domainLost: ({ domain }, sending) => ({
    subject: `${domain} cannot send any more`,
    preview: 'Its DNS records are not as they have to be.',
    title: `${domain} cannot send any more`,
    paragraphs: [
      `The DNS records of ${domain} were missing or wrong for longer than a passing fault takes, so no email of ${sending.name} leaves from it.`,
      'Emails that were accepted wait, and leave when the records are right again. The records are checked every hour.',
    ],
    button: { label: 'Look at the records', url: `${sending.publicUrl}/app` },
    foot: WARNED(sending),
  }),
  webhookDisabled: ({ webhookId, livemode, url, failures, answers, disabledAt }, sending) => ({
    subject: 'A webhook endpoint was switched off',
    preview: `${failures} deliveries failed in a row.`,
    title: 'A webhook endpoint was switched off',
    paragraphs: [
      `${failures} posts in a row to ${url} failed, so the endpoint was disabled on ${day(disabledAt)}. Nothing more is sent there.`,
      ...(answers === '' ? [] : [`The last answers: ${answers}.`]),
      'Switch it on again when it answers: what happened meanwhile can be replayed, or read from the event log.',
    ],
    button: {
      label: 'Look at the endpoint',
      url: `${sending.publicUrl}/app/${livemode ? 'live' : 'test'}/webhooks/${webhookId}`,
    },
    foot: WARNED(sending),
  }),
  campaignPaused: ({ campaign, reason, remaining }, sending) => ({
    subject: `The campaign “${campaign}” is paused`,
    preview: PAUSED[reason] ?? 'It waits for you.',
    title: `“${campaign}” is paused`,
    paragraphs: [
      PAUSED[reason] ?? 'It was stopped before its end.',
      `${remaining.toLocaleString('en')} recipients have not got it. It goes on when you resume it, and reaches only those.`,
    ],
    button: { label: 'Look at the campaign', url: `${sending.publicUrl}/app` },
    foot: WARNED(sending),
  }),
};

/** The content of an email. */
export const contentOf = (email: ServiceEmail, sending: Sending): Content =>
  (CONTENTS[email.kind] as (email: ServiceEmail, sending: Sending) => Content)(email, sending);
