import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'The password of your account was changed',
  passwordReset: 'A new password was set for your account by a link',
  authenticatorAdded: 'An authenticator was added to your account',
  authenticatorRemoved: 'The authenticator was removed from your account',
  passkeyAdded: 'A passkey was added to your account',
  passkeyRemoved: 'A passkey was removed from your account',
  codeRepeated: 'A used code of your authenticator was tried again and refused',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'The workspace has used all emails of this month.',
  bounce_rate:
    'Too many of its emails bounced. A list with many invalid addresses harms the reputation of your domain.',
  complaint_rate: 'Too many recipients reported it as spam.',
  canary: 'Its first share bounced or was reported as spam more often than you allow.',
  sender_unverified: 'Its sending domain is no longer verified.',
};

const warned = (workspace: string): string =>
  `You get this email as an owner or admin of ${workspace}. You can turn these emails off in the settings of the workspace.`;

export const en: ServiceTexts = {
  language: 'en',
  orOpen: 'Or open this address:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Join ${workspace}`,
    preview: `You are invited with the role ${role}.`,
    title: `You are invited to ${workspace}`,
    paragraphs: [
      `A member of ${workspace} has invited you with the role ${role}.`,
      `The invitation is for this address only, works once, and expires on ${until}.`,
    ],
    button: 'Accept invitation',
    foot: 'If you did not expect an invitation, ignore this email: only this link gives access.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Set a new password',
    preview: 'The link works once, for an hour.',
    paragraphs: [
      'A new password was requested for your account.',
      `The link works once, until ${until}. If you use a second factor, you still need it.`,
    ],
    button: 'Set a new password',
    foot: 'If this was not you, ignore this email: your password does not change.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'If that was you, there is nothing to do.',
    paragraphs: [
      `It happened on ${at}.`,
      'If that was you, there is nothing to do. If it was not, set a new password, which ends all sessions, and check your authenticator and your passkeys.',
    ],
    button: 'Open account',
    foot: 'You get this email because it is about your account. A workspace cannot turn these emails off.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} cannot send any more`,
    preview: 'Its DNS records are missing or wrong.',
    paragraphs: [
      `The DNS records of ${domain} were missing or wrong for longer than a temporary fault lasts, so ${workspace} cannot send email from it.`,
      'Accepted emails wait, and are sent once the records are correct again. The records are checked every hour.',
    ],
    button: 'Open domain',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'timeout',
    unresolved_host: 'unresolved host',
    forbidden_address: 'forbidden address',
    no_connection: 'no connection',
    connection_lost: 'connection lost',
    untrusted_tls: 'untrusted TLS',
    malformed_answer: 'malformed answer',
    sealed_secret: 'sealed secret',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'A webhook endpoint was disabled',
    preview: counted('en', failures, {
      one: '# delivery failed.',
      other: '# deliveries failed in a row.',
    }),
    paragraphs: [
      counted('en', failures, {
        one: `# post to ${url} failed, so the endpoint was disabled on ${at}. It receives no more events.`,
        other: `# posts in a row to ${url} failed, so the endpoint was disabled on ${at}. It receives no more events.`,
      }),
      ...(results === null ? [] : [`Last results: ${results}.`]),
      'Enable it once it answers again. You can replay the events that it missed, or read them from the event log.',
    ],
    button: 'Open endpoint',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `The campaign “${campaign}” is paused`,
    preview: PAUSED[reason],
    title: `“${campaign}” is paused`,
    paragraphs: [
      PAUSED[reason],
      counted('en', remaining, {
        one: '# recipient has not received it. When you resume it, it is sent only to them.',
        other: '# recipients have not received it. When you resume it, it is sent only to them.',
      }),
    ],
    button: 'Open campaign',
    foot: warned(workspace),
  }),
};
