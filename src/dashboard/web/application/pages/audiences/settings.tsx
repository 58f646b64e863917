import { useState } from 'react';
import type { Audience } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Field, Form, Tick } from '../../ui/form.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { FilterBuilder } from './filter-builder.tsx';
import { filterOf, newGroup, treeOf } from './filter-tree.ts';
import { LiveCount, useFilterCount } from './live-count.tsx';

/** What an audience is, and its filter. */
export function AudienceSettings({ audience }: { readonly audience: Audience }) {
  const { may } = useViewer();
  const isDynamic = audience.type === 'dynamic';
  const [group, setGroup] = useState(() => (audience.filter === null ? newGroup() : treeOf(audience.filter)));
  const answer = useFilterCount(group, isDynamic && may('contacts:write'));
  const change = useChange('PATCH /audiences/{id}', ['contacts']);
  if (!may('contacts:write'))
    return (
      <Card>
        <Facts
          facts={{
            Description: audience.description,
            'On the preference page': audience.public ? 'Yes' : 'No',
            'Asks to confirm': audience.confirm ? 'Yes' : 'No',
            Filter: audience.filter && (
              <pre className="font-mono text-caption break-words whitespace-pre-wrap">
                {JSON.stringify(audience.filter, null, 2)}
              </pre>
            ),
          }}
        />
      </Card>
    );
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
      <Card>
        <Form
          action="Save"
          aside={<span className="mr-auto" />}
          onSend={async ({ name = '', description = '', ...ticks }) => {
            await change.mutateAsync({
              path: { id: audience.id },
              body: {
                name,
                description: description.trim() === '' ? null : description,
                public: ticks.public === 'on',
                ...(isDynamic ? { filter: filterOf(group) } : { confirm: ticks.confirm === 'on' }),
              },
            });
            toast('It is saved.');
          }}
        >
          <Field label="Name" name="name" defaultValue={audience.name} />
          <Field label="Description" name="description" defaultValue={audience.description ?? ''} />
          {isDynamic && <FilterBuilder group={group} problems={answer.problems} onChange={setGroup} />}
          <Tick
            label="Show it on the preference page"
            name="public"
            hint="People can leave it there, and join it."
            defaultChecked={audience.public}
          />
          {!isDynamic && (
            <Tick
              label="Ask people to confirm"
              name="confirm"
              hint="They are mailed a link, and are in the audience once they have used it."
              defaultChecked={audience.confirm}
            />
          )}
        </Form>
      </Card>
      {isDynamic && <LiveCount answer={answer} />}
    </div>
  );
}
