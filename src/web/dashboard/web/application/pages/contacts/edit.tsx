import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Contact } from '../../api/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useEditing } from '../../editing/use-editing.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Properties } from './properties.tsx';
import { changesOfProperties, type PropertyRow, propertiesOf, rowsOf } from './property-rows.ts';

const orNull = (text = ''): string | null => (text.trim() === '' ? null : text.trim());

/** Adds one contact. */
export function NewContact({ onClose }: { readonly onClose: () => void }) {
  const [rows, setRows] = useState(rowsOf({}));
  const create = useChange('POST /contacts', ['audiences']);
  const [, navigate] = useLocation();
  return (
    <Dialog title="New contact" onClose={onClose} width="max-w-xl">
      <Form
        action="Add contact"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ email = '', firstName, lastName }) => {
          const body = { email, firstName: orNull(firstName), lastName: orNull(lastName) };
          const { id } = await create.mutateAsync({ body: { ...body, properties: propertiesOf(rows) } });
          toast(`${email} added`);
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

type ContactValues = {
  readonly firstName: string;
  readonly lastName: string;
  readonly properties: readonly PropertyRow[];
};
const LABELS = { firstName: 'First name', lastName: 'Last name', properties: 'Properties' } as const;

/**
 * Changes the data of a contact, but not the address: to its recipients, another address is another person.
 */
export function EditContact({
  contact,
  onClose,
}: {
  readonly contact: Contact;
  readonly onClose: () => void;
}) {
  const path = { contact: contact.id };
  const change = useChange('PATCH /contacts/{contact}', ['audiences']);
  const { refetch } = useRead('GET /contacts/{contact}', { path });
  const editing = useEditing<Contact, ContactValues>({
    place: `contacts/${contact.id}`,
    current: contact,
    labels: LABELS,
    // Personal data is not kept in the browser.
    isKept: false,
    read: ({ firstName, lastName, properties }) => ({
      ...{ firstName: firstName ?? '', lastName: lastName ?? '', properties: rowsOf(properties) },
    }),
    write: ({ firstName, lastName, properties }, ifUpdatedAt, _, base) =>
      change.mutateAsync({
        path,
        body: {
          ...(firstName !== undefined && { firstName: orNull(firstName) }),
          ...(lastName !== undefined && { lastName: orNull(lastName) }),
          ...(properties && { properties: changesOfProperties(properties, base.properties) }),
          ifUpdatedAt,
        },
      }),
    reread: async () => (await refetch({ throwOnError: true })).data ?? contact,
    show: (_, value) =>
      typeof value === 'string'
        ? value
        : (value as readonly PropertyRow[]).map(({ key, text }) => `${key}: ${text}`).join('\n'),
  });
  return (
    <Dialog title={`Edit ${contact.email}`} onClose={onClose} width="max-w-xl">
      <Form
        action="Save"
        aside={<Button onClick={onClose}>Cancel</Button>}
        editing={editing}
        onSaved={() => {
          toast('Saved');
          onClose();
        }}
      >
        <Names />
        <Properties rows={editing.values.properties} onChange={(properties) => editing.set({ properties })} />
      </Form>
    </Dialog>
  );
}

const Names = () => (
  <div className="grid gap-4 sm:grid-cols-2">
    <Field label="First name" name="firstName" />
    <Field label="Last name" name="lastName" />
  </div>
);
