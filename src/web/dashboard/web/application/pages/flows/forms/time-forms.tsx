import {
  type StepConfigs,
  type Wait,
  WEEKDAYS,
  type Weekday,
} from '../../../../../../../../machines/flow-run/definition.ts';
import { instantOf, localText, shownZone } from '../../../ui/display/clock.ts';
import { Choice, Field, type Fields } from '../../../ui/forms/form.tsx';
import { given, type StepForm } from './form-parts.tsx';
import { OptionalFilter } from './optional-filter.tsx';
import { TimeZoneField } from './time-zone.tsx';

const UNITS = { minutes: 'minutes', hours: 'hours', days: 'days', weeks: 'weeks' } as const;
const DAYS = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
} as const satisfies Record<Weekday, string>;

const waitIn = (fields: Fields, at = ''): Wait => ({
  amount: Number(fields[`${at}amount`] ?? '1'),
  unit: (fields[`${at}unit`] ?? 'days') as Wait['unit'],
});

/** A length of time; days and weeks are those of the calendar. */
const WaitFields = ({
  wait,
  at = '',
  label,
}: {
  readonly wait: Wait;
  readonly at?: string;
  readonly label: string;
}) => (
  <div className="grid grid-cols-2 gap-3">
    <Field label={label} name={`${at}amount`} type="number" min={1} defaultValue={wait.amount} />
    <Choice label="Unit" name={`${at}unit`} options={UNITS} defaultValue={wait.unit} />
  </div>
);

type TimeStepType = 'delay' | 'delayUntil' | 'waitForEvent';

/** The forms of the steps in which time passes. */
export const TIME_FORMS: { readonly [Type in TimeStepType]: StepForm<StepConfigs[Type]> } = {
  delay: {
    fields: ({ config }) => (
      <>
        <WaitFields wait={config} label="Wait for" />
        <p className="text-caption text-dim">
          Days and weeks follow the contact's calendar, across clock changes as well.
        </p>
      </>
    ),
    read: (fields) => waitIn(fields),
  },
  delayUntil: {
    fields: ({ config }) => (
      <>
        <Choice
          label="Wait until"
          name="kind"
          options={{ time: 'a time of day', at: 'a fixed date and time' }}
          defaultValue={'at' in config ? 'at' : 'time'}
        />
        {'at' in config ? (
          <Field
            label={`Date and time (${shownZone()})`}
            name="at"
            type="datetime-local"
            defaultValue={localText(config.at)}
            hint="Contacts that arrive later continue at once."
          />
        ) : (
          <>
            <Field label="Time" name="time" type="time" defaultValue={config.time} />
            <fieldset>
              <legend className="mb-1.5 font-medium">Only on</legend>
              <div className="flex flex-wrap gap-1">
                {WEEKDAYS.map((day) => (
                  <label key={day} className="chip">
                    <input
                      type="checkbox"
                      className="sr-only"
                      name={`weekdays/${day}`}
                      defaultChecked={config.weekdays?.includes(day) ?? false}
                    />
                    {DAYS[day]}
                  </label>
                ))}
              </div>
              <p className="mt-1 text-caption text-dim">None selected: every day.</p>
            </fieldset>
            <TimeZoneField name="timeZone" zone={config.timeZone} />
          </>
        )}
      </>
    ),
    read: ({ kind, at, time, timeZone, ...fields }, before) => {
      if (kind === 'at')
        return { at: instantOf(at) ?? ('at' in before ? before.at : new Date().toISOString()) };
      const weekdays = WEEKDAYS.filter((day) => fields[`weekdays/${day}`] === 'on');
      const zone = given(timeZone);
      return {
        time: given(time) ?? '09:00',
        ...(weekdays.length > 0 && { weekdays }),
        ...(zone !== undefined && { timeZone: zone }),
      };
    },
  },
  waitForEvent: {
    fields: ({ config, problems, onChange }) => (
      <>
        <Field
          label="Event name"
          name="name"
          defaultValue={config.name}
          placeholder="order.placed"
          hint="The name that your program records for the contact."
        />
        <WaitFields wait={config.timeout} at="timeout/" label="Timeout after" />
        <OptionalFilter
          label="Only matching events"
          hint="A filter on the contact or on the properties of the event."
          value={config.filter}
          problems={problems}
          at="filter"
          hasEvent
          onChange={(filter) => {
            const { filter: _, ...others } = config;
            onChange(filter === null ? others : { ...others, filter });
          }}
        />
      </>
    ),
    read: ({ name = '', ...fields }, before) => ({
      ...before,
      name: name.trim(),
      timeout: waitIn(fields, 'timeout/'),
    }),
  },
};
