import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Role } from '../../../../../http/auth/roles.ts';
import { baseOf, lastEnvironment } from '../addresses.ts';
import { useRead } from '../api/queries.ts';
import { request } from '../api/requests.ts';
import { entry, takeOwnZone } from '../api/session.ts';
import { useMember } from '../api/viewer.tsx';
import { leaving } from '../editing/leaving.ts';
import { Button } from '../ui/button.tsx';
import { shownZone } from '../ui/display/clock.ts';
import { Field, Form } from '../ui/forms/form.tsx';
import { icons, Mark } from '../ui/icons.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { Item, Menu, Separator } from '../ui/overlays/menu.tsx';

/** A workspace of the account that is signed in. */
interface OwnWorkspace {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** The page's data belongs to one workspace, so another one is another document. Other tabs keep theirs. */
const open = (id: string): void => location.assign(baseOf(id, lastEnvironment()));

/** The workspace that is open, and the others to go to. */
export function WorkspaceMenu() {
  const { session } = useMember();
  const [isMaking, setMaking] = useState(false);
  const { data: workspaces = [] } = useQuery({
    queryKey: ['workspaces'],
    queryFn: async ({ signal }) =>
      (await request<readonly OwnWorkspace[]>('GET', 'workspaces', { signal })).data,
    staleTime: 60_000,
  });
  const { id: current } = session.workspace;
  // The session knows the name of when the page was loaded.
  const { data: workspace } = useRead('GET /workspace', {});
  const name = workspace?.name ?? session.workspace.name;
  // The time zone of the workspace has changed, and the clock comes with the session.
  const zone = workspace?.timeZone;
  useEffect(() => {
    if (zone !== undefined && zone !== shownZone()) void entry.session(current).catch(() => {});
  }, [zone, current]);
  return (
    <>
      <Menu
        label="Workspaces"
        className="flex min-h-10 w-full items-center gap-2.5 rounded-lg px-1.5 text-left hover:bg-hover"
        items={
          <>
            {workspaces.map(({ id, name }) => (
              <Item
                key={id}
                checked={id === current}
                onSelect={() => id !== current && leaving.ask(() => open(id))}
              >
                {name}
              </Item>
            ))}
            {session.member.role === 'owner' && (
              <>
                <Separator />
                <Item onSelect={() => leaving.ask(() => setMaking(true))}>{icons.Plus} New workspace</Item>
              </>
            )}
          </>
        }
      >
        <Mark className="size-7 shrink-0" />
        <span className="min-w-0 flex-1 leading-tight">
          <span className="sr-only">Workspace </span>
          <span className="block truncate font-semibold">{name}</span>
          <span className="block truncate text-caption text-dim">Plan {session.plan}</span>
        </span>
        <span className="text-faint">{icons.Down}</span>
      </Menu>
      {isMaking && (
        <Dialog title="New workspace" onClose={() => setMaking(false)}>
          <p className="text-dim">
            A workspace has its own domains, keys, members and quota. You become its owner.
          </p>
          <Form
            action="Create workspace"
            aside={<Button onClick={() => setMaking(false)}>Cancel</Button>}
            onSend={async ({ name = '' }) => {
              const { data } = await request<{ id: string }>('POST', 'workspaces', { body: { name } });
              await takeOwnZone(data.id);
              open(data.id);
            }}
          >
            <Field label="Name" name="name" autoComplete="organization" />
          </Form>
        </Dialog>
      )}
    </>
  );
}
