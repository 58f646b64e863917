import { useState } from 'react';
import type { StepConfigs } from '../../../../../../../../machines/flow-run/definition.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Field } from '../../../ui/forms/form.tsx';
import { icons } from '../../../ui/icons.tsx';
import { nextId } from '../../audiences/filter-tree.ts';
import { given, type StepForm, type StepFormData } from './form-parts.tsx';
import { FilterField } from './optional-filter.tsx';

type DecisionStepType = 'condition' | 'branch';

/** The forms of the steps that choose a path. */
export const DECIDING_FORMS: { readonly [Type in DecisionStepType]: StepForm<StepConfigs[Type]> } = {
  condition: {
    fields: ({ config, problems, onChange }) => (
      <>
        <p className="text-dim">Contacts that match take the path “Yes”.</p>
        <FilterField
          value={config.filter}
          problems={problems}
          at="filter"
          hasEvent
          onChange={(filter) => onChange({ filter })}
        />
      </>
    ),
    read: (_, before) => before,
  },
  branch: {
    fields: ({ config, problems, onChange }) => (
      <Branches config={config} problems={problems} onChange={onChange} />
    ),
    read: (fields, before) => ({
      branches: before.branches.map((branch, index) => ({
        ...branch,
        key: given(fields[`branches/${index}/key`]) ?? branch.key,
      })),
    }),
  },
};

type BranchConfig = StepConfigs['branch'];

/** The branches of a step, in the order in which they are asked. */
function Branches({ config, problems, onChange }: Omit<StepFormData<BranchConfig>, 'names'>) {
  const { branches } = config;
  // Names change while they are typed, so a counter identifies each branch.
  const [ids, setIds] = useState(() => branches.map(nextId));
  return (
    <div className="grid gap-4">
      <p className="text-dim">The first matching branch is taken. All other contacts take their own path.</p>
      {branches.map((branch, index) => (
        <fieldset key={ids[index]} className="grid gap-3 rounded-lg border border-edge p-3">
          <legend className="sr-only">Branch {index + 1}</legend>
          <div className="flex items-end gap-2">
            <div className="min-w-0 flex-1">
              <Field label={`Branch ${index + 1}`} name={`branches/${index}/key`} defaultValue={branch.key} />
            </div>
            {branches.length > 1 && (
              <IconButton
                label={`Remove branch ${index + 1}`}
                className="mb-1"
                onClick={() => {
                  setIds(ids.toSpliced(index, 1));
                  onChange({ branches: branches.toSpliced(index, 1) });
                }}
              >
                {icons.Close}
              </IconButton>
            )}
          </div>
          <FilterField
            value={branch.filter}
            problems={problems}
            at={`branches/${index}/filter`}
            hasEvent
            onChange={(filter) =>
              onChange({ branches: branches.map((each, at) => (at === index ? { ...each, filter } : each)) })
            }
          />
        </fieldset>
      ))}
      <Button
        className="justify-self-start"
        onClick={() => {
          const filter = { and: [{ field: 'status', operator: 'eq', value: 'subscribed' }] };
          setIds([...ids, nextId()]);
          onChange({ branches: [...branches, { key: freeBranch(branches), filter }] });
        }}
      >
        {icons.Plus} Add branch
      </Button>
    </div>
  );
}

function freeBranch(branches: BranchConfig['branches']): string {
  let number = branches.length + 1;
  while (branches.some(({ key }) => key === `branch${number}`)) number++;
  return `branch${number}`;
}
