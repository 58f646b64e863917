import { instantOf, shownZone } from '../../../clock.ts';
import type { Contact } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** Subscribes somebody again who has left: only with where and when they have said so. */
export function Consent({ contact, onClose }: { readonly contact: Contact; readonly onClose: () => void }) {
  const change = useChange('PATCH /contacts/{contact}', ['audiences', 'suppressions']);
  return (
    <Dialog title={`Subscribe ${contact.email} again`} onClose={onClose}>
      <p className="text-dim">
        They have left. Write to them again only if they asked for it; the record of it is kept in their
        timeline.
      </p>
      <Form
        action="Record the consent"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ 'consent/source': source = '', 'consent/at': at = '' }) => {
          await change.mutateAsync({
            path: { contact: contact.id },
            body: { status: 'subscribed', consent: { source, at: instantOf(at) ?? '' } },
          });
          toast(`${contact.email} is subscribed again.`);
          onClose();
        }}
      >
        <Field
          label="Where they agreed"
          name="consent/source"
          hint="Such as “the form on the website” or “by telephone”."
          autoFocus
        />
        <Field
          label="When"
          name="consent/at"
          type="datetime-local"
          hint={`In the time zone of the workspace, ${shownZone()}.`}
        />
      </Form>
    </Dialog>
  );
}
