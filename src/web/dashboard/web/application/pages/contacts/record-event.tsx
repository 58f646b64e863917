import type { Contact, CreateCustomEvent } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form, TextArea } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { valuesIn } from '../flows/forms/dictionary.ts';

/** Records a custom event of a contact, as a program would: flows and filters react to it. */
export function RecordEvent({
  contact,
  onClose,
}: {
  readonly contact: Contact;
  readonly onClose: () => void;
}) {
  const record = useChange('POST /contacts/{contact}/events', ['flows']);
  return (
    <Dialog title="Record event" onClose={onClose}>
      <p className="text-dim">
        Records a custom event for {contact.email}. Flows that wait for it start or continue, and filters
        count it.
      </p>
      <Form
        action="Record event"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ name = '', properties = '' }) => {
          const body: CreateCustomEvent = {
            name: name.trim(),
            ...(properties.trim() !== '' && {
              properties: valuesIn(properties) as NonNullable<CreateCustomEvent['properties']>,
            }),
          };
          await record.mutateAsync({ path: { contact: contact.id }, body });
          toast(`Event “${body.name}” recorded`);
          onClose();
        }}
      >
        <Field label="Name" name="name" placeholder="order.placed" />
        <TextArea
          label="Event properties"
          name="properties"
          rows={3}
          placeholder={'total = 40\nplan = pro'}
          hint="One per line: name = value."
        />
      </Form>
    </Dialog>
  );
}
