import { useState } from 'react';
import { Link } from 'wouter';
import type { Template } from '../../../../../client/operations.ts';
import { useChange, useQuestion } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { KINDS } from './formats.ts';

/** The templates that use a layout or partial, and the way to give them its published version. */
export function UsedBy({ template }: { readonly template: Template }) {
  const { may } = useViewer();
  const [isUpdating, setUpdating] = useState(false);
  const { usedBy, kind } = template;
  const title = KINDS[kind].title.toLowerCase();
  return (
    <section aria-label="Used by" className="card grid grid-cols-1 gap-2 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-medium">Used by {count(usedBy.count)}</h2>
        {usedBy.count > 0 && may('templates:write') && (
          <Button className="ml-auto" onClick={() => setUpdating(true)}>
            Update them
          </Button>
        )}
      </div>
      {usedBy.count === 0 ? (
        <p className="text-dim">No template uses this {title} yet.</p>
      ) : (
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {usedBy.templates.map(({ id, name }) => (
            <li key={id}>
              <Link to={`/templates/${id}`} className="link">
                {name}
              </Link>
            </li>
          ))}
          {usedBy.count > usedBy.templates.length && (
            <li className="text-dim">and {count(usedBy.count - usedBy.templates.length)} more</li>
          )}
        </ul>
      )}
      {isUpdating && <UpdateUsers template={template} onClose={() => setUpdating(false)} />}
    </section>
  );
}

/** Shows what an update would change, and makes it. */
function UpdateUsers({ template, onClose }: { readonly template: Template; readonly onClose: () => void }) {
  const { id, name } = template;
  const plan = useQuestion('POST /templates/{id}/update-users', { path: { id }, body: { dryRun: true } });
  const update = useChange('POST /templates/{id}/update-users');
  const users = plan.data?.users ?? [];
  const isBlocked = users.some(({ problem }) => problem !== null);
  if (!plan.data)
    return (
      <Dialog title={`Update what uses “${name}”`} onClose={onClose}>
        {plan.error ? <p className="text-dim">{plan.error.message}</p> : <Skeleton className="h-24 w-full" />}
      </Dialog>
    );
  return (
    <Dialog title={`Update what uses “${name}”`} onClose={onClose}>
      <p className="text-dim" role="status">
        {users.length === 0
          ? 'Everything that uses it has its published version.'
          : 'A new version of each of these is published, with the layouts and partials that are published now.'}
      </p>
      <ul className="grid max-h-80 gap-2 overflow-y-auto">
        {users.map((user) => (
          <li key={user.id} className="rounded-lg border border-edge px-3 py-2">
            <p className="font-medium">{user.name}</p>
            {user.problem === null ? (
              user.changes.map(({ part, before, after }) => (
                <p key={part} className="text-caption break-words text-dim">
                  {part}: <del>{before}</del> <ins>{after}</ins>
                </p>
              ))
            ) : (
              <p data-color="bad" className="state-text text-caption break-words">
                {user.problem}
              </p>
            )}
          </li>
        ))}
      </ul>
      {users.length === 0 || isBlocked ? (
        <Button onClick={onClose}>Close</Button>
      ) : (
        <Form
          action={`Update ${count(users.length)}`}
          aside={<Button onClick={onClose}>Cancel</Button>}
          onSend={async () => {
            await update.mutateAsync({ path: { id }, body: {} });
            toast(`${count(users.length)} updated and published`);
            onClose();
          }}
        >
          {null}
        </Form>
      )}
    </Dialog>
  );
}
