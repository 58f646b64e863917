import type { EmailEventType } from '../../api/operations.ts';
import type { Fields } from '../../ui/forms/form.tsx';
import { Tick } from '../../ui/forms/form.tsx';

const EVENTS = {
  sent: 'A server has taken it.',
  delivered: 'The mailbox has it.',
  bounced: 'It could not be delivered.',
  complained: 'Somebody called it spam.',
  unsubscribed: 'Somebody left by its link.',
  opened: 'It was shown.',
  clicked: 'A link was followed.',
} as const satisfies Record<EmailEventType, string>;

/** The events that an endpoint may be told of. */
export const EVENT_NAMES = Object.keys(EVENTS) as EmailEventType[];

/** The events that are ticked in a form with `EventTicks`. */
export const tickedEvents = (fields: Fields): readonly EmailEventType[] =>
  EVENT_NAMES.filter((name) => fields[`event ${name}`] === 'on');

/** The kinds of events, to be ticked. */
export const EventTicks = ({
  ticked,
  legend = 'It hears of',
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
