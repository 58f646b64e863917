import type { FlowDefinition, FlowTrigger } from '../../../../../../../../machines/flow-run/definition.ts';
import { Choice, Field, type Fields } from '../../../ui/forms/form.tsx';
import { type Names, TRIGGERS } from '../words.ts';
import { OptionalFilter } from './optional-filter.tsx';
import { Panel, type PanelProps, Target } from './step-panel.tsx';
import { TimeZoneField } from './time-zone.tsx';

type Trigger = FlowTrigger['type'];
type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings of every type of trigger from the fields of the form; what belongs to another type is left
 * out.
 */
const READ: { readonly [Type in Trigger]: (fields: Fields) => Settings } = {
  contactCreated: () => ({}),
  audienceJoined: ({ audienceId = '' }) => ({ audienceId }),
  audienceLeft: ({ audienceId = '' }) => ({ audienceId }),
  replied: () => ({}),
  event: ({ name = '' }) => ({ name: name.trim() }),
  dateProperty: ({ property = '', offsetDays = '0', time = '09:00', repeat = 'yearly' }) => ({
    property: property.trim(),
    offsetDays: Number(offsetDays),
    time,
    repeat,
  }),
  manual: () => ({}),
};

const REENTRY = { never: 'Once per contact', afterExit: 'Again, after the previous run has ended' } as const;
const REPEAT = { yearly: 'Every year', once: 'Once' } as const;

/** The trigger of the flow, its exit condition and its quiet hours. */
export function StartPanel(props: PanelProps) {
  const { definition, names, isReadOnly, onChange } = props;
  const problems = props.problems.map(({ field, message }) => ({
    field: field.replace(/^trigger\/(?!filter)/, ''),
    message,
  }));
  const { trigger, exitWhen, quietHours, reentry } = definition;
  const read = (fields: Fields) => {
    const type = (fields.type ?? 'manual') as Trigger;
    const { filter } = trigger;
    const from = fields['quietHours/from'] ?? '';
    const to = fields['quietHours/to'] ?? '';
    const zone = (fields['quietHours/timeZone'] ?? '').trim();
    onChange({
      ...definition,
      trigger: { type, ...READ[type](fields), ...(filter !== undefined && { filter }) } as FlowTrigger,
      reentry: (fields.reentry ?? 'never') as FlowDefinition['reentry'],
      quietHours:
        fields.isQuiet === 'on' ? { from: from || '22:00', to: to || '07:00', timeZone: zone || null } : null,
    });
  };
  return (
    <Panel
      title="Trigger"
      icon="Play"
      problems={problems}
      isReadOnly={isReadOnly}
      onFields={read}
      onClose={props.onClose}
    >
      <Choice label="Starts when" name="type" options={TRIGGERS} defaultValue={trigger.type} />
      <TriggerFields trigger={trigger} names={names} />
      <OptionalFilter
        label="Only for matching contacts"
        hint="Checked once, at the start. Other contacts do not start."
        value={trigger.filter}
        problems={problems}
        at="trigger/filter"
        hasEvent={trigger.type === 'event'}
        onChange={(filter) => {
          const { filter: _, ...others } = trigger;
          onChange({
            ...definition,
            trigger: (filter === null ? others : { ...others, filter }) as FlowTrigger,
          });
        }}
      />
      <Target
        way={{ from: null, when: 'default' }}
        label=""
        definition={definition}
        names={names}
        onChange={onChange}
      />
      <Choice label="Re-entry" name="reentry" options={REENTRY} defaultValue={reentry} />
      <OptionalFilter
        label="Exit early"
        hint="Matching contacts exit the flow at any step: the goal is reached."
        value={exitWhen}
        problems={problems}
        at="exitWhen"
        onChange={(filter) => onChange({ ...definition, exitWhen: filter })}
      />
      <Quiet quietHours={quietHours} />
    </Panel>
  );
}

function TriggerFields({ trigger, names }: { readonly trigger: FlowTrigger; readonly names: Names }) {
  switch (trigger.type) {
    case 'audienceJoined':
    case 'audienceLeft':
      return (
        <Choice
          key={`${trigger.type} ${Object.keys(names.audiences).length}`}
          label="Audience"
          name="audienceId"
          options={{ '': 'Select an audience', ...names.audiences }}
          defaultValue={trigger.audienceId}
        />
      );
    case 'event':
      return (
        <Field
          label="Event name"
          name="name"
          defaultValue={trigger.name}
          placeholder="order.placed"
          hint="The name that your program records for the contact."
        />
      );
    case 'dateProperty':
      return (
        <>
          <Field
            label="Date property"
            name="property"
            defaultValue={trigger.property}
            placeholder="birthday"
          />
          <div className="grid grid-cols-2 gap-3">
            <Field
              label="Days after it"
              name="offsetDays"
              type="number"
              defaultValue={trigger.offsetDays}
              hint="−3: three days before it."
            />
            <Field label="Time" name="time" type="time" defaultValue={trigger.time} />
          </div>
          <Choice label="Repeat" name="repeat" options={REPEAT} defaultValue={trigger.repeat} />
        </>
      );
    case 'replied':
    case 'contactCreated':
    case 'manual':
      return null;
  }
}

function Quiet({ quietHours }: Pick<FlowDefinition, 'quietHours'>) {
  return (
    <div className="grid gap-3">
      <label className="flex gap-2.5">
        <input
          type="checkbox"
          name="isQuiet"
          defaultChecked={quietHours !== null}
          className="mt-0.5 size-4 shrink-0 accent-accent"
        />
        <span>
          Quiet hours
          <span className="block text-caption text-dim">
            Emails wait until quiet hours end. All other steps continue.
          </span>
        </span>
      </label>
      {quietHours && (
        <>
          <div className="grid grid-cols-2 gap-3">
            <Field label="From" name="quietHours/from" type="time" defaultValue={quietHours.from} />
            <Field label="To" name="quietHours/to" type="time" defaultValue={quietHours.to} />
          </div>
          <TimeZoneField name="quietHours/timeZone" zone={quietHours.timeZone} />
        </>
      )}
    </div>
  );
}
