import { useLocation } from 'wouter';
import type { Contact, Flow } from '../../../../../../client/operations.ts';
import { useChange } from '../../../api/queries.ts';
import { RequestError, request } from '../../../api/requests.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field, Form } from '../../../ui/forms/form.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';

/** Starts a run for a contact by hand, for flows with the manual trigger. */
export function StartRun({ flow, onClose }: { readonly flow: Flow; readonly onClose: () => void }) {
  const { environment } = useViewer();
  const start = useChange('POST /flows/{id}/runs');
  const [, navigate] = useLocation();
  const idOf = async (who: string): Promise<string> => {
    if (who.startsWith('con_')) return who;
    const query = new URLSearchParams({ email: who, limit: '1' });
    const { data } = await request<readonly Contact[]>('GET', `${environment}/contacts?${query}`);
    const message = 'No contact has this address.';
    if (!data[0]) throw new RequestError(404, message, null, [{ path: '/body/contactId', message }]);
    return data[0].id;
  };
  return (
    <Dialog title="Start run" onClose={onClose}>
      <Form
        action="Start run"
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ contactId = '' }) => {
          const run = await start.mutateAsync({
            path: { id: flow.id },
            body: { contactId: await idOf(contactId.trim()) },
          });
          navigate(`/flows/${flow.id}/runs/${run.id}`);
        }}
      >
        <Field
          label="Contact"
          name="contactId"
          placeholder="ada@example.com"
          hint="An email address or a contact ID."
          autoFocus
        />
      </Form>
    </Dialog>
  );
}
