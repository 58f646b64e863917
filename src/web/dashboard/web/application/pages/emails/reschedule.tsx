import type { Email } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { instantOf, localText, shownZone } from '../../ui/display/clock.ts';
import { momentText } from '../../ui/display/format.ts';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** Reschedules an email; the toast offers an undo. */
export function Reschedule({ email, onClose }: { readonly email: Email; readonly onClose: () => void }) {
  const change = useChange('PATCH /emails/{id}');
  const path = { id: email.id };
  const before = email.scheduledAt ?? email.createdAt;
  return (
    <Dialog title="Reschedule email" onClose={onClose}>
      <Form
        action="Reschedule email"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ scheduledAt = '' }) => {
          const at = instantOf(scheduledAt) ?? '';
          await change.mutateAsync({ path, body: { scheduledAt: at } });
          toast(`Email scheduled for ${momentText(at)}`, () =>
            change.mutateAsync({ path, body: { scheduledAt: before } }),
          );
          onClose();
        }}
      >
        <Field
          label="Time"
          name="scheduledAt"
          type="datetime-local"
          defaultValue={localText(before)}
          hint={`In the workspace time zone, ${shownZone()}; at most 30 days ahead.`}
        />
      </Form>
    </Dialog>
  );
}
