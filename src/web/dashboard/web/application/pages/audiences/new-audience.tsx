import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import type { RequestError } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FilterBuilder } from './filter-builder.tsx';
import { filterOf, newGroup } from './filter-tree.ts';
import { Joining } from './joining.tsx';
import { LiveCount, problemsOfFilter, useFilterCount } from './live-count.tsx';

const KINDS = {
  dynamic: {
    title: 'Dynamic',
    about: 'Holds every contact that matches a filter, now and later.',
  },
  static: { title: 'Static', about: 'Holds the contacts that you, an import or your program add.' },
} as const;

/** Creates an audience. */
export default function NewAudience() {
  const { may } = useViewer();
  const [type, setType] = useState<keyof typeof KINDS>('dynamic');
  const [group, setGroup] = useState(() => newGroup());
  const answer = useFilterCount(group, type === 'dynamic' && may('contacts:write'));
  const create = useChange('POST /audiences');
  const [refused, setRefused] = useState<RequestError | null>(null);
  const [, navigate] = useLocation();
  const back = { to: '/audiences', text: 'Audiences' };
  if (!may('contacts:write'))
    return (
      <Page title="New audience" back={back}>
        <Empty title="Your role is read-only" icon={icons.People}>
          <p>Members of the workspace can create audiences.</p>
        </Empty>
      </Page>
    );
  return (
    <Page title="New audience" back={back}>
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Card>
          <Form
            action="Create audience"
            aside={<ButtonLink to="/audiences">Cancel</ButtonLink>}
            onRefused={setRefused}
            onSend={async ({ name = '', description = '', ...ticks }) => {
              const { id } = await create.mutateAsync({
                body: {
                  name,
                  type,
                  ...(description.trim() !== '' && { description }),
                  ...(type === 'dynamic' && { filter: filterOf(group) }),
                  public: ticks.public === 'on',
                  ...(type === 'static' && { confirm: ticks.confirm === 'on' }),
                },
              });
              toast(`Audience “${name}” created`);
              navigate(`/audiences/${id}`);
            }}
          >
            <Field label="Name" name="name" autoFocus />
            <Field
              label="Description"
              name="description"
              hint="Its purpose. Contacts see this text on the preference page."
            />
            <ChoiceCards label="Kind" name="type" value={type} options={KINDS} onChange={setType} />
            {type === 'dynamic' && (
              <FilterBuilder
                group={group}
                problems={[...answer.problems, ...problemsOfFilter(refused)]}
                onChange={(next) => {
                  setRefused(null);
                  setGroup(next);
                }}
              />
            )}
            <Joining isStatic={type === 'static'} />
          </Form>
        </Card>
        {type === 'dynamic' && <LiveCount answer={answer} />}
      </div>
    </Page>
  );
}
