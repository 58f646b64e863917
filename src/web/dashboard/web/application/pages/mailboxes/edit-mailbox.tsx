import { useState } from 'react';
import type { Mailbox } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

type Security = Mailbox['security'];

const SECURITIES = {
  tls: 'TLS from the beginning',
  starttls: 'STARTTLS before the login',
} as const satisfies Record<Security, string>;
const PORTS = { tls: 993, starttls: 143 } as const satisfies Record<Security, number>;

/** Adds a mailbox, or changes one. */
export function EditMailbox(props: { readonly mailbox: Mailbox | null; readonly onClose: () => void }) {
  const { mailbox, onClose } = props;
  const [security, setSecurity] = useState<Security>(mailbox?.security ?? 'tls');
  const create = useChange('POST /mailboxes');
  const change = useChange('PATCH /mailboxes/{id}');
  const action = mailbox ? 'Save mailbox' : 'Add mailbox';
  return (
    <Dialog title={mailbox ? 'Edit mailbox' : 'Add mailbox'} onClose={onClose} width="max-w-xl">
      <Form
        action={action}
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async (fields) => {
          const { host = '', port = '', username = '', password = '', folder = '' } = fields;
          const settings = {
            host: host.trim(),
            security,
            username: username.trim(),
            folder: folder.trim() || 'INBOX',
            port: port.trim() === '' ? PORTS[security] : Number(port),
          };
          if (mailbox) {
            const { id, updatedAt } = mailbox;
            const secret = password === '' ? {} : { password };
            await change.mutateAsync({
              path: { id },
              body: { ...settings, ...secret, ifUpdatedAt: updatedAt },
            });
            toast('Mailbox saved');
          } else {
            await create.mutateAsync({ body: { ...settings, password } });
            toast('Mailbox added');
          }
          onClose();
        }}
      >
        <Field label="Server" name="host" placeholder="imap.example.com" defaultValue={mailbox?.host} />
        <Choice
          label="Encryption"
          name="security"
          options={SECURITIES}
          defaultValue={security}
          onChange={(value) => setSecurity(value as Security)}
        />
        <Field
          label="Port"
          name="port"
          inputMode="numeric"
          placeholder={String(PORTS[security])}
          defaultValue={mailbox ? String(mailbox.port) : undefined}
        />
        <Field
          label="User"
          name="username"
          placeholder="support@example.com"
          autoComplete="off"
          defaultValue={mailbox?.username}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          hint={
            mailbox
              ? 'Empty keeps it. Another server or user needs its password.'
              : 'Accounts with a second factor need a password for applications.'
          }
        />
        <Field
          label="Folder"
          name="folder"
          placeholder="INBOX"
          defaultValue={mailbox?.folder}
          hint="Read from the next message on."
        />
      </Form>
    </Dialog>
  );
}
