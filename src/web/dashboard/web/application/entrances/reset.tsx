import { entry } from '../api/session.ts';
import { goHome } from '../place.ts';
import { PasswordField } from '../ui/forms/password-field.tsx';
import { Entrance } from './frame.tsx';
import { Spoken, SpokenForm, words } from './spoken.tsx';

export const NewPassword = () => (
  <PasswordField label={words.password} name="password" isNew hint={words.passwordHint} />
);

/** Sets a new password. */
export const Reset = ({
  token,
  onDone,
}: {
  readonly token: string;
  readonly onDone: (why: 'passwordSet') => Promise<void>;
}) => (
  <Spoken>
    <Entrance title={words.choosePassword} about={words.choosePasswordHint}>
      <SpokenForm
        action={words.setPassword}
        onSend={async (fields) => {
          await entry.send('password-reset', { token, ...fields });
          await onDone('passwordSet');
          goHome();
        }}
      >
        <NewPassword />
      </SpokenForm>
    </Entrance>
  </Spoken>
);

/** The page of a link that came without its token, as after loading it again. */
export const LinkNeeded = ({ needs }: { readonly needs: 'invitationNeedsLink' | 'resetNeedsLink' }) => (
  <Spoken>
    <Entrance title={words.openAgain} about={`${words[needs]} ${words.openAgainHint}`}>
      <a href="/app" className="link">
        {words.toSignIn}
      </a>
    </Entrance>
  </Spoken>
);
