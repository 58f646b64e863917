import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Badge } from '../../ui/display/badge.tsx';
import { Copyable } from '../../ui/display/copyable.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast, toastProblem } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';
import { useAccountChange } from './account.ts';

const QrCode = lazy(() => import('./qr-code.tsx'));

interface TotpSetup {
  readonly secret: string;
  readonly uri: string;
}

/** The authenticator: a second factor with codes on a phone. */
export function Authenticator() {
  const { session } = useMember();
  const client = useQueryClient();
  const change = useAccountChange('sessions');
  const { data: members } = useRead('GET /members', {});
  const isOn = members?.find(({ id }) => id === session.member.id)?.twoFactor;
  const [begun, setBegun] = useState<TotpSetup | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const changed = () => client.invalidateQueries({ queryKey: [session.workspace.id] });
  const end = () => {
    setCodes(null);
    setBegun(null);
  };
  const begin = async () => setBegun(await change<TotpSetup>('POST', 'totp'));
  return (
    <Card
      title="Authenticator"
      about="An app on your phone shows a six-digit code, which sign-in asks for after the password."
      actions={
        isOn === undefined ? null : isOn ? (
          <span className="flex items-center gap-3">
            <Badge status="on" tone="good" />
            <Button onClick={() => setRemoving(true)}>Remove authenticator</Button>
          </span>
        ) : (
          <Button onClick={() => void begin().catch(toastProblem)}>Set up authenticator</Button>
        )
      }
    >
      {begun && !codes && (
        <Dialog title="Set up authenticator" onClose={() => setBegun(null)} width="max-w-lg">
          <p>
            Scan this code with your authenticator. On your phone, open{' '}
            <a href={begun.uri} className="link">
              this link
            </a>{' '}
            or enter the secret. Then enter the six digits that the authenticator shows.
          </p>
          <Suspense fallback={<Skeleton className="size-48 justify-self-center" />}>
            <QrCode text={begun.uri} label="QR code of the secret" />
          </Suspense>
          <Copyable label="Secret" text={begun.secret} />
          <Form
            action="Turn on"
            aside={<Button onClick={() => setBegun(null)}>Cancel</Button>}
            onSend={async ({ code = '' }) => {
              const { recoveryCodes } = await change<{ recoveryCodes: readonly string[] }>(
                'POST',
                'totp/confirm',
                {
                  code: code.replace(/\s/g, ''),
                },
              );
              setCodes(recoveryCodes);
              await changed();
            }}
          >
            <Field label="Code" name="code" inputMode="numeric" autoComplete="one-time-code" />
          </Form>
        </Dialog>
      )}
      {codes && (
        <Dialog title="Save these recovery codes" onClose={end} isShownOnce>
          <p role="status">Each code signs you in once if you lose your phone. They are shown only once.</p>
          <Copyable label="Recovery codes" text={codes.join('\n')} />
          <Button look="main" onClick={end}>
            I have saved them
          </Button>
        </Dialog>
      )}
      {isRemoving && (
        <Dialog title="Remove authenticator" onClose={() => setRemoving(false)}>
          <Form
            action="Remove authenticator"
            look="danger"
            aside={<Button onClick={() => setRemoving(false)}>Cancel</Button>}
            onSend={async ({ code = '' }) => {
              await change('DELETE', 'totp', { code: code.trim() });
              setRemoving(false);
              await changed();
              toast('Authenticator removed. Your password alone signs you in now.');
            }}
          >
            <Field
              label="Code"
              name="code"
              autoComplete="one-time-code"
              hint="The six digits of the authenticator, or a recovery code."
            />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}
