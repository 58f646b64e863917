import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Form, TextArea } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

/** Adds contacts to a list by their addresses. */
export function AddPeople({
  audienceId,
  onClose,
}: {
  readonly audienceId: string;
  readonly onClose: () => void;
}) {
  const add = useChange('POST /audiences/{id}/contacts', ['contacts']);
  return (
    <Dialog title="Add contacts" onClose={onClose} width="max-w-lg">
      <p className="text-dim">
        Only existing contacts can be added. People who left this audience themselves stay out. A contact who
        unsubscribed from all email can be in the audience but gets no mail.
      </p>
      <Form
        action="Add contacts"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ emails = '' }) => {
          const body = { emails: emails.split(/[\s,;]+/).filter((each) => each !== '') };
          const {
            added,
            alreadyIn,
            notFound,
            left = [],
          } = await add.mutateAsync({ path: { id: audienceId }, body });
          const others = [
            alreadyIn > 0 ? `${count(alreadyIn)} already in the audience` : '',
            left.length > 0 ? `left the audience and stay out: ${left.slice(0, 5).join(', ')}` : '',
            notFound.length > 0 ? `not a contact: ${notFound.slice(0, 5).join(', ')}` : '',
          ].filter((each) => each !== '');
          toast([`${count(added)} added`, ...others].join('; '));
          onClose();
        }}
      >
        <TextArea
          label="Email addresses"
          name="emails"
          rows={6}
          hint="One per line, or separated by commas; up to 1,000."
          placeholder={'ada@example.com\ngrace@example.com'}
        />
      </Form>
    </Dialog>
  );
}
