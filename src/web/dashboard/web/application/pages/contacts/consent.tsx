import type { Contact } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { instantOf, shownZone } from '../../ui/display/clock.ts';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** Subscribes a contact again who unsubscribed; the place and time of the new consent are required. */
export function Consent({ contact, onClose }: { readonly contact: Contact; readonly onClose: () => void }) {
  const change = useChange('PATCH /contacts/{contact}', ['audiences', 'suppressions']);
  return (
    <Dialog title={`Subscribe ${contact.email} again`} onClose={onClose}>
      <p className="text-dim">
        This contact unsubscribed. Send email only if they asked for it. The record of consent is kept in the
        timeline.
      </p>
      <Form
        action="Record consent"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ 'consent/source': source = '', 'consent/at': at = '' }) => {
          await change.mutateAsync({
            path: { contact: contact.id },
            body: { status: 'subscribed', consent: { source, at: instantOf(at) ?? '' } },
          });
          toast(`${contact.email} subscribed again`);
          onClose();
        }}
      >
        <Field
          label="Source of consent"
          name="consent/source"
          hint="For example “the form on the website” or “by phone”."
          autoFocus
        />
        <Field
          label="Time of consent"
          name="consent/at"
          type="datetime-local"
          hint={`In the workspace time zone, ${shownZone()}.`}
        />
      </Form>
    </Dialog>
  );
}
