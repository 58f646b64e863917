import { useState } from 'react';
import type { Audience, Filter } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useEditing } from '../../editing/use-editing.ts';
import { useValue } from '../../editing/use-values.ts';
import { Field, Form } from '../../ui/forms/form.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { FilterBuilder } from './filter-builder.tsx';
import { filterOf, newGroup, treeOf } from './filter-tree.ts';
import { Joining } from './joining.tsx';
import { LiveCount, problemsOfFilter, useFilterCount } from './live-count.tsx';

const groupOf = (filter: Filter | null) => (filter === null ? newGroup() : treeOf(filter));

/** The settings of an audience, and its filter. */
export function AudienceSettings({ audience }: { readonly audience: Audience }) {
  const { may } = useViewer();
  if (!may('contacts:write'))
    return (
      <Card>
        <Facts
          facts={{
            Description: audience.description,
            'On the preference page': audience.public ? 'Yes' : 'No',
            'Requires confirmation': audience.confirm ? 'Yes' : 'No',
            Filter: audience.filter && (
              <pre className="font-mono text-caption break-words whitespace-pre-wrap">
                {JSON.stringify(audience.filter, null, 2)}
              </pre>
            ),
          }}
        />
      </Card>
    );
  return <EditAudience audience={audience} />;
}

type AudienceValues = {
  readonly name: string;
  readonly description: string;
  readonly public: boolean;
  readonly confirm: boolean;
  readonly filter: Filter | null;
};
const LABELS = {
  name: 'Name',
  description: 'Description',
  public: 'Show it on the preference page',
  confirm: 'Require confirmation',
  filter: 'Filter',
} as const;

function EditAudience({ audience }: { readonly audience: Audience }) {
  const path = { id: audience.id };
  const isDynamic = audience.type === 'dynamic';
  const change = useChange('PATCH /audiences/{id}', ['contacts']);
  const { refetch } = useRead('GET /audiences/{id}', { path });
  const editing = useEditing<Audience, AudienceValues>({
    place: `audiences/${audience.id}`,
    current: audience,
    labels: LABELS,
    read: (read) => ({
      name: read.name,
      description: read.description ?? '',
      public: read.public,
      confirm: read.confirm,
      filter: read.filter,
    }),
    write: ({ description, filter, ...changed }, ifUpdatedAt) =>
      change.mutateAsync({
        path,
        body: {
          ...changed,
          ...(description !== undefined && { description: description.trim() === '' ? null : description }),
          ...(filter && { filter }),
          ifUpdatedAt,
        },
      }),
    reread: async () => (await refetch({ throwOnError: true })).data ?? audience,
  });
  const { round, refused } = editing;
  const filter = useValue(editing, 'filter');
  // The tree holds incomplete rows, so a filter that changes elsewhere replaces the whole tree.
  const [edited, setEdited] = useState({ group: groupOf(filter), round });
  if (edited.round !== round) setEdited({ group: groupOf(filter), round });
  const { group } = edited;
  const answer = useFilterCount(group, isDynamic);
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
      <Card>
        <Form action="Save" editing={editing} onSaved={() => toast('Saved')}>
          <Field label="Name" name="name" />
          <Field label="Description" name="description" />
          {isDynamic && (
            <FilterBuilder
              group={group}
              problems={[...answer.problems, ...problemsOfFilter(refused)]}
              onChange={(next) => {
                setEdited({ group: next, round });
                editing.set({ filter: filterOf(next) });
              }}
            />
          )}
          <Joining isStatic={!isDynamic} />
        </Form>
      </Card>
      {isDynamic && <LiveCount answer={answer} />}
    </div>
  );
}
