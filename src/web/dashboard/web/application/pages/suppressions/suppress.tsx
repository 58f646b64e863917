import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';

const REASONS = {
  manual: 'Block all email',
  unsubscribed: 'Unsubscribed: send only transactional email',
} as const;

/** Suppresses one address. */
export function Suppress({ onClose }: { readonly onClose: () => void }) {
  const create = useChange('POST /suppressions', ['contacts']);
  return (
    <Dialog title="Suppress address" onClose={onClose}>
      <Form
        action="Suppress address"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ address = '', reason }) => {
          const suppressed = await create.mutateAsync({
            body: { address, reason: reason === 'unsubscribed' ? 'unsubscribed' : 'manual' },
          });
          toast(`${suppressed.address ?? address} suppressed`);
          onClose();
        }}
      >
        <Field label="Address" name="address" type="email" autoFocus />
        <Choice label="Scope" name="reason" options={REASONS} defaultValue="manual" />
      </Form>
    </Dialog>
  );
}
