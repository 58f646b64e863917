import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Contact } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form } from '../../ui/form.tsx';
import { toast } from '../../ui/toast.tsx';
import { Properties, propertiesOf, rowsOf } from './properties.tsx';

const orNull = (text = ''): string | null => (text.trim() === '' ? null : text.trim());

/** Adds one contact. */
export function NewContact({ onClose }: { readonly onClose: () => void }) {
  const [rows, setRows] = useState(rowsOf({}));
  const create = useChange('POST /contacts', ['audiences']);
  const [, navigate] = useLocation();
  return (
    <Dialog title="New contact" onClose={onClose} width="max-w-xl">
      <Form
        action="Add the contact"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ email = '', firstName, lastName }) => {
          const body = { email, firstName: orNull(firstName), lastName: orNull(lastName) };
          const { id } = await create.mutateAsync({ body: { ...body, properties: propertiesOf(rows) } });
          toast(`${email} is added.`);
          navigate(`/contacts/${id}`);
        }}
      >
        <Field label="Email address" name="email" type="email" autoFocus />
        <Names />
        <Properties rows={rows} onChange={setRows} />
      </Form>
    </Dialog>
  );
}

/** Changes what is known about a contact. The address stays: another one is another person to whoever receives it. */
export function EditContact({
  contact,
  onClose,
}: {
  readonly contact: Contact;
  readonly onClose: () => void;
}) {
  const [rows, setRows] = useState(rowsOf(contact.properties));
  const change = useChange('PATCH /contacts/{contact}', ['audiences']);
  return (
    <Dialog title={`Edit ${contact.email}`} onClose={onClose} width="max-w-xl">
      <Form
        action="Save"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ firstName, lastName }) => {
          const names = { firstName: orNull(firstName), lastName: orNull(lastName) };
          await change.mutateAsync({
            path: { contact: contact.id },
            body: { ...names, properties: propertiesOf(rows, contact.properties) },
          });
          toast('It is saved.');
          onClose();
        }}
      >
        <Names contact={contact} />
        <Properties rows={rows} onChange={setRows} />
      </Form>
    </Dialog>
  );
}

const Names = ({ contact }: { readonly contact?: Contact }) => (
  <div className="grid gap-4 sm:grid-cols-2">
    <Field label="First name" name="firstName" defaultValue={contact?.firstName ?? ''} />
    <Field label="Last name" name="lastName" defaultValue={contact?.lastName ?? ''} />
  </div>
);
