import type { PageLanguage } from '../../../../../../platform/text/language.ts';
import type { OwnFormWords } from '../../ui/forms/form-words.ts';

/**
 * All that people read on the pages to which emails of the service lead, and at the sign-in behind them; one
 * file for each language.
 */
export interface EntranceWords {
  readonly language: PageLanguage;
  readonly invited: string;
  join(workspace: string): string;
  /** `by` is null where the inviter is not named. */
  invitation(said: {
    readonly by: string | null;
    readonly workspace: string;
    readonly role: string;
    readonly email: string;
    readonly until: string;
  }): string;
  signedInAs(email: string): string;
  readonly accept: string;
  readonly cannotAccept: string;
  readonly cannotShow: string;
  readonly signInInstead: string;
  readonly createInstead: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly passwordHint: string;
  readonly code: string;
  readonly codeHint: string;
  readonly signIn: string;
  readonly signInTitle: string;
  readonly passkey: string;
  readonly liveView: string;
  readonly lockedOut: string;
  /** A command follows. */
  readonly newPasswordBy: string;
  /** An option of that command follows. */
  readonly lostFactorBy: string;
  readonly choosePassword: string;
  readonly choosePasswordHint: string;
  readonly setPassword: string;
  readonly openAgain: string;
  readonly openAgainHint: string;
  readonly invitationNeedsLink: string;
  readonly resetNeedsLink: string;
  readonly toSignIn: string;
  /** The reasons for which a person is asked to sign in. */
  readonly why: {
    readonly signedOut: string;
    readonly sessionEnded: string;
    readonly passwordSet: string;
    readonly alreadySetUp: string;
  };
  readonly form: OwnFormWords;
  /** Problems, each with the next step. */
  readonly problems: {
    readonly spent: string;
    readonly taken: string;
    readonly full: string;
    readonly noWorkspace: string;
    readonly credentials: string;
    readonly code: string;
    tooSoon(seconds: number): string;
    readonly name: string;
    readonly password: string;
    readonly away: string;
  };
}
