import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

const REASONS = {
  manual: 'Send nothing at all to it',
  unsubscribed: 'They have left: send receipts and passwords only',
} as const;

/** Suppresses one address. */
export function Suppress({ onClose }: { readonly onClose: () => void }) {
  const create = useChange('POST /suppressions', ['contacts']);
  return (
    <Dialog title="Suppress an address" onClose={onClose}>
      <Form
        action="Suppress it"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ address = '', reason }) => {
          const suppressed = await create.mutateAsync({
            body: { address, reason: reason === 'unsubscribed' ? 'unsubscribed' : 'manual' },
          });
          toast(`${suppressed.address ?? address} is suppressed.`);
          onClose();
        }}
      >
        <Field label="Address" name="address" type="email" autoFocus />
        <Choice label="What it means" name="reason" options={REASONS} defaultValue="manual" />
      </Form>
    </Dialog>
  );
}
