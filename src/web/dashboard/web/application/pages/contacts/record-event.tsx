import type { Contact, CreateCustomEvent } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form, TextArea } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { valuesIn } from '../flows/forms/dictionary.ts';

/** Records something that somebody has done, as a program would: flows and filters hear of it. */
export function RecordEvent({
  contact,
  onClose,
}: {
  readonly contact: Contact;
  readonly onClose: () => void;
}) {
  const record = useChange('POST /contacts/{contact}/events', ['flows']);
  return (
    <Dialog title="Record an event" onClose={onClose}>
      <p className="text-dim">
        Something that {contact.email} has done. Flows that wait for it begin or go on, and filters count it.
      </p>
      <Form
        action="Record it"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '', properties = '' }) => {
          const body: CreateCustomEvent = {
            name: name.trim(),
            ...(properties.trim() !== '' && {
              properties: valuesIn(properties) as NonNullable<CreateCustomEvent['properties']>,
            }),
          };
          await record.mutateAsync({ path: { contact: contact.id }, body });
          toast(`“${body.name}” is recorded.`);
          onClose();
        }}
      >
        <Field label="Name" name="name" placeholder="order.placed" />
        <TextArea
          label="Properties of the event"
          name="properties"
          rows={3}
          placeholder={'total = 40\nplan = pro'}
          hint="A line each: name = value."
        />
      </Form>
    </Dialog>
  );
}
