import { useMember } from '../../api/viewer.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { PASSWORD_HINT } from '../../ui/forms/form-words.ts';
import { PasswordField } from '../../ui/forms/password-field.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useAccountChange } from './account.ts';
import { Authenticator } from './authenticator.tsx';
import { EmailLanguage } from './language.tsx';
import { Passkeys } from './passkeys.tsx';
import { Sessions } from './sessions.tsx';

/** The person's sign-in methods, sessions and language; the same in every workspace. */
export default function Account() {
  const { session } = useMember();
  const change = useAccountChange('sessions');
  return (
    <Page title="Your account" about={`${session.account.email}, in every workspace`}>
      <Card title="Password" about="A new password signs you out everywhere else.">
        <div className="max-w-md">
          <Form
            action="Change password"
            onSend={async (fields) => {
              await change('PUT', 'password', fields);
              toast('Password changed. You are signed out everywhere else.');
            }}
          >
            <PasswordField label="Current password" name="current" />
            <PasswordField label="New password" name="new" isNew hint={PASSWORD_HINT} />
          </Form>
        </div>
      </Card>
      <Authenticator />
      <Passkeys />
      <EmailLanguage />
      <Sessions />
    </Page>
  );
}
