import { useState } from 'react';
import { takesPasskeys } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Time } from '../../ui/display/time.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { PasswordField } from '../../ui/forms/password-field.tsx';
import { icons } from '../../ui/icons.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';
import { useAccountChange, useAccountList } from './account.ts';

interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** Asks the device for a passkey. @throws in the browser's words when it has none or the person declines */
async function enrol(options: PublicKeyCredentialCreationOptionsJSON): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await navigator.credentials.create({ publicKey });
  if (!(made instanceof PublicKeyCredential)) throw new Error('The device did not create a passkey.');
  return made.toJSON();
}

/** Passkeys: keys of a device that sign in without a password. */
export function Passkeys() {
  const { data } = useAccountList<Passkey>('passkeys');
  const change = useAccountChange('passkeys');
  const [isAdding, setAdding] = useState(false);
  const isPossible = takesPasskeys();
  return (
    <Card
      title="Passkeys"
      about={
        isPossible
          ? 'Sign in with your device or password manager instead of a password.'
          : 'Passkeys need https, or an address on this machine.'
      }
      actions={isPossible && <Button onClick={() => setAdding(true)}>Add passkey</Button>}
    >
      {data && data.length > 0 && (
        <ul className="grid grid-cols-1 gap-2">
          {data.map(({ id, name, lastUsedAt }) => (
            <li
              key={id}
              className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-edge px-3.5 py-2"
            >
              <span className="text-dim">{icons.Key}</span>
              <span className="min-w-0 flex-1 basis-40 truncate font-medium">{name}</span>
              <span className="text-caption text-dim">
                last used <Time at={lastUsedAt} none="never" />
              </span>
              <Button
                look="quiet"
                aria-label={`Remove passkey ${name}`}
                onClick={() =>
                  void change('DELETE', `passkeys/${id}`).then(
                    () => toast(`Passkey “${name}” removed`),
                    toastProblem,
                  )
                }
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {isAdding && (
        <Dialog title="Add passkey" onClose={() => setAdding(false)}>
          <Form
            action="Continue"
            aside={<Button onClick={() => setAdding(false)}>Cancel</Button>}
            onSend={async ({ name = '', password = '' }) => {
              const options = await change<PublicKeyCredentialCreationOptionsJSON>(
                'POST',
                'passkeys/options',
                { password },
              );
              await change('POST', 'passkeys', { name, response: await enrol(options) });
              setAdding(false);
              toast(`Passkey “${name}” added`);
            }}
          >
            <Field
              label="Name"
              name="name"
              placeholder="Laptop"
              hint="For example, the device that holds it."
            />
            <PasswordField
              label="Your password"
              name="password"
              hint="A passkey signs in by itself, so the password is asked for once."
            />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}
