import type { PageLanguage } from '../../../../../../platform/text/language.ts';
import { counted } from '../../../../../../platform/text/plurals.ts';
import { ENGLISH, PASSWORD_HINT } from '../../ui/forms/form-words.ts';

/**
 * All that people read on the pages to which emails of the service lead, and at the sign-in behind them; one
 * file for each language.
 */
export type EntranceWords = Readonly<Omit<typeof en, 'language'>> & { readonly language: PageLanguage };

/** `by` is null where the inviter is not named. */
interface Invitation {
  readonly by: string | null;
  readonly workspace: string;
  readonly role: string;
  readonly email: string;
  readonly until: string;
}

export const en = {
  language: 'en' as const,
  invited: 'You are invited to Posthorn',
  join: (workspace: string) => `Join ${workspace}`,
  invitation: ({ by, workspace, role, email, until }: Invitation) =>
    `${by === null ? 'You are invited' : `${by} invites you`} to the workspace ${workspace} with the role ${role}. The invitation is for ${email} and ends on ${until}.`,
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  accept: 'Accept invitation',
  cannotAccept: 'This invitation cannot be accepted',
  cannotShow: 'The invitation cannot be shown now',
  signInInstead: 'Sign in with an existing account instead',
  createInstead: 'Create an account instead',
  name: 'Your name',
  email: 'Email address',
  password: 'Password',
  passwordHint: PASSWORD_HINT,
  code: 'Authenticator code',
  codeHint: 'The six digits of your authenticator, or a recovery code.',
  signIn: 'Sign in',
  signInTitle: 'Sign in to Posthorn',
  passkey: 'Sign in with a passkey',
  liveView: 'Open the live view with an API key',
  lockedOut: 'Locked out?',
  // A command follows.
  newPasswordBy: 'The operator of the machine can print a link for a new password. No email is needed:',
  // An option of that command follows.
  lostFactorBy: 'If the authenticator is lost and no recovery code is left, add this to the command:',
  choosePassword: 'Choose a new password',
  choosePasswordHint: 'You are signed out everywhere. Sign in with the new password.',
  setPassword: 'Set password',
  openAgain: 'Open the link again',
  openAgainHint:
    'The secret part of the link was removed from the address of this page to keep it private. Open the whole link again.',
  invitationNeedsLink: 'An invitation needs the link that you received.',
  resetNeedsLink: 'A new password needs the link that you received.',
  toSignIn: 'Go to sign-in',
  // The reasons for which a person is asked to sign in.
  why: {
    signedOut: 'You are signed out.',
    sessionEnded: 'Your session has ended. Sign in again.',
    passwordSet: 'Password changed. Sign in with it.',
    alreadySetUp: 'The first account already exists.',
  },
  form: ENGLISH,
  // Problems, each with the next step.
  problems: {
    spent:
      'This link was already used, or it has expired. Ask the person who sent you the link for another one.',
    taken: 'An account with this address already exists. Sign in with it, then open the link again.',
    full: 'You belong to as many workspaces as a person can. Leave or delete one of yours first.',
    noWorkspace: 'This account belongs to no workspace. Ask for an invitation.',
    credentials: 'The address or the password is wrong.',
    code: 'Enter a new code of your authenticator, or a recovery code. Each works once.',
    tooSoon: (seconds: number) =>
      counted('en', seconds, {
        one: 'Too many attempts. Retry in # second.',
        other: 'Too many attempts. Retry in # seconds.',
      }),
    name: 'Enter your name, without invisible characters.',
    password:
      'Use 12 to 128 characters, and no sequence, no common password, and more than your name and your address.',
    away: 'The service is not reachable. Try again later.',
  },
};
