import { useState } from 'react';
import { request } from '../../api/requests.ts';
import { useMember } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { Card } from '../../ui/page.tsx';

/** Puts a workspace aside, takes it back, or deletes it for good: for owners. */
export function Ending() {
  const { session } = useMember();
  const { id, name, archived } = session.workspace;
  const [asking, setAsking] = useState<'archive' | 'delete' | null>(null);
  const close = () => setAsking(null);
  const archive = async (archived: boolean) => {
    await request('PATCH', `workspaces/${id}`, { body: { archived } });
    // The permissions of the whole page have changed.
    location.reload();
  };
  return (
    <>
      <Card
        title={archived ? 'Restore workspace' : 'Archive workspace'}
        about={
          archived
            ? 'Members and API keys can make changes and send email again.'
            : 'Everything stays readable, but nothing can be changed or sent, and API keys are refused until you restore the workspace.'
        }
        actions={
          <Button onClick={() => (archived ? void archive(false) : setAsking('archive'))}>
            {archived ? 'Restore workspace' : 'Archive workspace'}
          </Button>
        }
      />
      {archived && (
        <Card
          title="Delete workspace"
          about="Deletes the workspace and everything in it: emails, contacts, keys, members. This cannot be undone."
          actions={
            <Button look="danger" onClick={() => setAsking('delete')}>
              Delete workspace
            </Button>
          }
        />
      )}
      {asking === 'archive' && (
        <Confirm
          title={`Archive ${name}?`}
          action="Archive workspace"
          onClose={close}
          onConfirm={() => archive(true)}
        >
          Sending stops. You can restore the workspace at any time.
        </Confirm>
      )}
      {asking === 'delete' && (
        <Confirm
          title={`Delete ${name} permanently?`}
          action="Delete permanently"
          onClose={close}
          onConfirm={async () => {
            await request('DELETE', `workspaces/${id}`, { body: {} });
            location.assign('/app');
          }}
        >
          Everything in it is deleted permanently. The command <code>posthorn workspaces export</code> saves a
          copy first.
        </Confirm>
      )}
    </>
  );
}
