import { useState } from 'react';
import { useLocation } from 'wouter';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  type ContactFieldName,
  eachField,
} from '../../../../../../platform/text/contact-fields.ts';
import type { Contact } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useEditing } from '../../editing/use-editing.ts';
import { useValue } from '../../editing/use-values.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { orNull } from '../../ui/forms/or-null.ts';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Properties } from './properties.tsx';
import { changesOfProperties, type PropertyRow, propertiesOf, rowsOf } from './property-rows.ts';

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
        onSend={async ({ email = '', ...texts }) => {
          const body = { email, ...eachField((name) => orNull(texts[name])) };
          const { id } = await create.mutateAsync({ body: { ...body, properties: propertiesOf(rows) } });
          toast(`${email} added`);
          navigate(`/contacts/${id}`);
        }}
      >
        <Field label="Email address" name="email" type="email" autoFocus />
        <ContactFields />
        <Properties rows={rows} onChange={setRows} />
      </Form>
    </Dialog>
  );
}

type ContactValues = Readonly<Record<ContactFieldName, string>> & {
  readonly properties: readonly PropertyRow[];
};
const LABELS = { ...eachField((name) => CONTACT_FIELDS[name].label), properties: 'Properties' } as const;

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
    read: (stored) => ({
      ...eachField((name) => stored[name] ?? ''),
      properties: rowsOf(stored.properties),
    }),
    write: ({ properties, ...texts }, ifUpdatedAt, _, base) =>
      change.mutateAsync({
        path,
        body: {
          ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, orNull(text)])),
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
  const properties = useValue(editing, 'properties');
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
        <ContactFields />
        <Properties rows={properties} onChange={(next) => editing.set({ properties: next })} />
      </Form>
    </Dialog>
  );
}

const ContactFields = () => (
  <div className="grid gap-4 sm:grid-cols-2">
    {CONTACT_FIELD_NAMES.map((name) => (
      <Field key={name} label={CONTACT_FIELDS[name].label} name={name} />
    ))}
  </div>
);
