import { useState } from 'react';
import { useLocation } from 'wouter';
import { useChange } from '../../api/queries.ts';
import type { Refused } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Empty } from '../../ui/display/states.tsx';
import { ChoiceCards } from '../../ui/forms/choice-cards.tsx';
import { Field, Form, Tick } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FilterBuilder } from './filter-builder.tsx';
import { filterOf, newGroup } from './filter-tree.ts';
import { LiveCount, problemsOfFilter, useFilterCount } from './live-count.tsx';

const KINDS = {
  dynamic: {
    title: 'By filter',
    about: 'It always holds whom the filter describes, also those who come later.',
  },
  static: { title: 'List', about: 'It holds whom you, an import or your program have added.' },
} as const;

/** Makes an audience. */
export default function NewAudience() {
  const { may } = useViewer();
  const [type, setType] = useState<keyof typeof KINDS>('dynamic');
  const [group, setGroup] = useState(() => newGroup());
  const answer = useFilterCount(group, type === 'dynamic' && may('contacts:write'));
  const create = useChange('POST /audiences');
  const [refused, setRefused] = useState<Refused | null>(null);
  const [, navigate] = useLocation();
  const back = { to: '/audiences', text: 'Audiences' };
  if (!may('contacts:write'))
    return (
      <Page title="New audience" back={back}>
        <Empty title="Your role reads only" icon={icons.People}>
          <p>A member of the workspace can make audiences.</p>
        </Empty>
      </Page>
    );
  return (
    <Page title="New audience" back={back}>
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <Card>
          <Form
            action="Make the audience"
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
              toast(`“${name}” is made.`);
              navigate(`/audiences/${id}`);
            }}
          >
            <Field label="Name" name="name" autoFocus />
            <Field
              label="Description"
              name="description"
              hint="What it is for. Whoever may leave it sees this text."
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
            <Tick
              label="Show it on the preference page"
              name="public"
              hint="People can leave it there, and join it."
            />
            {type === 'static' && (
              <Tick
                label="Ask people to confirm"
                name="confirm"
                hint="They are mailed a link, and are in the audience once they have used it."
              />
            )}
          </Form>
        </Card>
        {type === 'dynamic' && <LiveCount answer={answer} />}
      </div>
    </Page>
  );
}
