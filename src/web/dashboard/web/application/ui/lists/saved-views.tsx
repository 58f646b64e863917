import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../button.tsx';
import { Field, Form } from '../forms/form.tsx';
import { icons } from '../icons.tsx';
import { Dialog } from '../overlays/dialog.tsx';
import { Item, Menu, Separator } from '../overlays/menu.tsx';
import { toast, toastProblem } from '../overlays/toast.tsx';

interface SavedView {
  readonly id: string;
  readonly page: string;
  readonly name: string;
  readonly search: string;
}

/**
 * The list that an address shows: `emails`, `campaigns`. Null for a list of one thing, whose address has an
 * id.
 */
const pageOf = (path: string): string | null =>
  /^\/([a-z][a-z-]{0,39}(?:\/[a-z][a-z-]{0,39})?)$/.exec(path)?.[1] ?? null;

/** The same filters in another order are the same view. */
const sorted = (search: string): string => {
  const params = new URLSearchParams(search);
  params.sort();
  return params.toString();
};

/** The person's saved filters of the list, with a way to save those that are set. */
export function SavedViews({ isSet }: { readonly isSet: boolean }) {
  const [path, navigate] = useLocation();
  const search = sorted(useSearch());
  const { workspace, environment } = useViewer();
  const list = pageOf(path);
  const page = list && `${environment}/${list}`;
  const client = useQueryClient();
  const queryKey = ['account', 'views', workspace.id];
  const { data = [] } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await request<readonly SavedView[]>('GET', 'views', { signal })).data,
  });
  const [isSaving, setSaving] = useState(false);
  const views = data.filter((view) => view.page === page);
  const current = views.find((view) => sorted(view.search) === search);
  // An order is worth a name as well.
  const isKept = isSet || new URLSearchParams(search).has('sort');
  if (page === null || (views.length === 0 && !isKept)) return null;
  const remove = async ({ id, name }: SavedView) => {
    await request('DELETE', `views/${id}`, { body: {} });
    await client.invalidateQueries({ queryKey });
    toast(`View “${name}” deleted`);
  };
  return (
    <>
      <Menu
        label="Saved views"
        className="button"
        items={
          <>
            {views.map((view) => (
              <Item
                key={view.id}
                checked={view === current}
                onSelect={() => navigate(`${path}?${view.search}`)}
              >
                {view.name}
              </Item>
            ))}
            {views.length > 0 && isKept && <Separator />}
            {isKept && !current && <Item onSelect={() => setSaving(true)}>Save these filters…</Item>}
            {current && (
              <Item danger onSelect={() => void remove(current).catch(toastProblem)}>
                Delete “{current.name}”
              </Item>
            )}
          </>
        }
      >
        {current?.name ?? 'Views'} {icons.Down}
      </Menu>
      {isSaving && (
        <Dialog title="Save view" onClose={() => setSaving(false)}>
          <p className="text-dim">
            These filters, and the order, are kept for you, in this workspace. A view with the same name is
            replaced.
          </p>
          <Form
            action="Save view"
            aside={<Button onClick={() => setSaving(false)}>Cancel</Button>}
            onSend={async ({ name = '' }) => {
              await request('POST', 'views', { body: { page, name, search } });
              await client.invalidateQueries({ queryKey });
              setSaving(false);
              toast(`View “${name}” saved`);
            }}
          >
            <Field label="Name" name="name" placeholder="Failed this week" />
          </Form>
        </Dialog>
      )}
    </>
  );
}
