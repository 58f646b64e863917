import { useState } from 'react';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Card } from '../../ui/page.tsx';

/** Puts a workspace aside, takes it back, or deletes it for good: for owners. */
export function Ending() {
  const { session } = useViewer();
  const { id, name, archived } = session.workspace;
  const [asking, setAsking] = useState<'archive' | 'delete' | null>(null);
  const close = () => setAsking(null);
  const archive = async (archived: boolean) => {
    await request('PATCH', `workspaces/${id}`, { body: { archived } });
    // Who may do what has changed for the whole page.
    location.reload();
  };
  return (
    <>
      <Card
        title={archived ? 'Take it back into use' : 'Archive'}
        about={
          archived
            ? 'Keys and people can change and send again.'
            : 'Everything can still be read; nothing can be changed or sent, and keys are refused, until it is taken back.'
        }
        actions={
          <Button onClick={() => (archived ? void archive(false) : setAsking('archive'))}>
            {archived ? 'Take it back' : 'Archive it'}
          </Button>
        }
      />
      {archived && (
        <Card
          title="Delete"
          about="The workspace and everything in it: emails, contacts, keys, members. Nothing can be brought back."
          actions={
            <Button look="danger" onClick={() => setAsking('delete')}>
              Delete it
            </Button>
          }
        />
      )}
      {asking === 'archive' && (
        <Confirm
          title={`Archive ${name}?`}
          action="Archive it"
          onClose={close}
          onConfirm={() => archive(true)}
        >
          Sending stops. You can take it back at any time.
        </Confirm>
      )}
      {asking === 'delete' && (
        <Confirm
          title={`Delete ${name} for good?`}
          action="Delete it for good"
          keep="Keep it"
          onClose={close}
          onConfirm={async () => {
            await request('DELETE', `workspaces/${id}`, { body: {} });
            location.assign('/app');
          }}
        >
          Everything in it is deleted without a trace. <code>posthorn workspaces export</code> keeps a copy.
        </Confirm>
      )}
    </>
  );
}
