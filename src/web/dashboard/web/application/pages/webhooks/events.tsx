import type { EmailEventType } from '../../api/operations.ts';
import type { Fields } from '../../ui/forms/form.tsx';
import { Tick } from '../../ui/forms/form.tsx';

const EVENTS = {
  sent: 'A mail server accepted the email.',
  delivered: 'The email reached its mailbox.',
  bounced: 'The email could not be delivered.',
  complained: 'The recipient reported spam.',
  unsubscribed: 'The recipient unsubscribed.',
  opened: 'The email was opened.',
  clicked: 'A link was clicked.',
} as const satisfies Record<EmailEventType, string>;

/** The events that an endpoint can receive. */
export const EVENT_NAMES = Object.keys(EVENTS) as EmailEventType[];

/** The events that are ticked in a form with `EventTicks`. */
export const tickedEvents = (fields: Fields): readonly EmailEventType[] =>
  EVENT_NAMES.filter((name) => fields[`event ${name}`] === 'on');

/** The kinds of events, to be ticked. */
export const EventTicks = ({
  ticked,
  legend = 'Events',
}: {
  readonly ticked: readonly EmailEventType[];
  readonly legend?: string;
}) => (
  <fieldset className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
    <legend className="mb-1.5 font-medium">{legend}</legend>
    {EVENT_NAMES.map((name) => (
      <Tick
        key={name}
        name={`event ${name}`}
        label={name}
        hint={EVENTS[name]}
        defaultChecked={ticked.includes(name)}
      />
    ))}
  </fieldset>
);
