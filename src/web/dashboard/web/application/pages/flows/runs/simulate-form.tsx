import { useState } from 'react';
import type { Flow, SimulateFlow } from '../../../../../../client/operations.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { instantOf, shownZone } from '../../../ui/display/clock.ts';
import { Choice, Field, type Fields, Form, TextArea } from '../../../ui/forms/form.tsx';
import { icons } from '../../../ui/icons.tsx';
import { Card } from '../../../ui/page.tsx';
import { valuesIn } from '../forms/dictionary.ts';

const WHO = { made: 'Sample contact', known: 'Existing contact' } as const;
const UNITS = { minutes: 'minutes', hours: 'hours', days: 'days', weeks: 'weeks' } as const;
type SimulationFormEvent = NonNullable<SimulateFlow['events']>[number];

/** The events that the flow waits for, as suggestions. */
const namesIn = ({ trigger, steps }: Flow): readonly string[] => [
  ...(trigger.type === 'event' && trigger.name ? [trigger.name] : []),
  ...steps.flatMap(({ type, config }) => (type === 'waitForEvent' ? [String(config?.name ?? '')] : [])),
];

const bodyOf = (fields: Fields, events: readonly number[]): SimulateFlow => {
  const { id = '', email = '', firstName = '', properties = '', startAt } = fields;
  const start = instantOf(startAt);
  return {
    contact:
      id.trim() === ''
        ? {
            email: email.trim(),
            ...(firstName.trim() !== '' && { firstName: firstName.trim() }),
            ...(properties.trim() !== '' && { properties: valuesIn(properties) }),
          }
        : { id: id.trim() },
    events: events.map((_, index): SimulationFormEvent => {
      const own = (name: string) => fields[`events/${index}/${name}`] ?? '';
      return {
        name: own('name').trim(),
        after: {
          amount: Number(own('after/amount')),
          unit: own('after/unit') as SimulationFormEvent['after']['unit'],
        },
        ...(own('properties').trim() !== '' && { properties: valuesIn(own('properties')) }),
      };
    }),
    ...(start !== undefined && { startAt: start }),
  };
};

/** The contact of a simulation, and the events on its path. */
export function SimulateForm({
  flow,
  isChanged,
  onSend,
}: {
  readonly flow: Flow;
  readonly isChanged: boolean;
  readonly onSend: (body: SimulateFlow) => Promise<void>;
}) {
  const [who, setWho] = useState<keyof typeof WHO>('made');
  const [events, setEvents] = useState<readonly number[]>([]);
  const known = namesIn(flow);
  return (
    <Card
      title="Simulate"
      about={isChanged ? 'Your changes are saved first. Nothing is sent.' : 'Nothing is sent or changed.'}
    >
      <Form action="Run simulation" onSend={(fields) => onSend(bodyOf(fields, events))}>
        <Choice
          label="For"
          name="who"
          options={WHO}
          defaultValue={who}
          onChange={(value) => setWho(value as keyof typeof WHO)}
        />
        {who === 'known' ? (
          <Field label="Contact ID" name="id" placeholder="con_…" />
        ) : (
          <>
            <Field label="Email address" name="email" defaultValue="ada@example.com" />
            <Field label="First name" name="firstName" defaultValue="Ada" />
            <TextArea
              label="Properties"
              name="properties"
              rows={2}
              placeholder="plan = pro"
              hint="One per line: name = value."
            />
          </>
        )}
        <Field
          label="Start"
          name="startAt"
          type="datetime-local"
          hint={`Empty: now. In the workspace time zone, ${shownZone()}.`}
        />
        {events.map((key, index) => (
          <fieldset key={key} className="grid gap-3 rounded-lg border border-edge p-3">
            <legend className="sr-only">Event {index + 1}</legend>
            <div className="flex items-end gap-2">
              <div className="min-w-0 flex-1">
                <Field
                  label={`Event ${index + 1}`}
                  name={`events/${index}/name`}
                  defaultValue={known[index] ?? known[0] ?? ''}
                  placeholder="order.placed"
                />
              </div>
              <IconButton
                label={`Remove event ${index + 1}`}
                className="mb-1"
                onClick={() => setEvents(events.filter((each) => each !== key))}
              >
                {icons.Close}
              </IconButton>
            </div>
            <div className="grid grid-cols-2 gap-3">
              <Field
                label="After"
                name={`events/${index}/after/amount`}
                type="number"
                min={0}
                defaultValue={1}
              />
              <Choice label="Unit" name={`events/${index}/after/unit`} options={UNITS} defaultValue="hours" />
            </div>
            <TextArea
              label="Event properties"
              name={`events/${index}/properties`}
              rows={1}
              placeholder="total = 40"
            />
          </fieldset>
        ))}
        <Button
          className="justify-self-start"
          onClick={() => setEvents([...events, (events.at(-1) ?? 0) + 1])}
        >
          {icons.Plus} Add event
        </Button>
      </Form>
    </Card>
  );
}
