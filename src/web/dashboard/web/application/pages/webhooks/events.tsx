import { EVENT_TRAITS } from '../../../../../../../machines/email/event-traits.ts';
import type { EmailEventType } from '../../../../../client/operations.ts';
import { EVENT_LOOKS } from '../../ui/display/event-looks.ts';
import type { Fields } from '../../ui/forms/form.tsx';
import { Tick } from '../../ui/forms/form.tsx';

/** The events that an endpoint can receive; opens and clicks come last. */
export const EVENT_NAMES = (Object.keys(EVENT_LOOKS) as EmailEventType[]).toSorted(
  (a, b) => Number(EVENT_TRAITS[a].isVisit) - Number(EVENT_TRAITS[b].isVisit),
);

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
        hint={EVENT_LOOKS[name].about}
        defaultChecked={ticked.includes(name)}
      />
    ))}
  </fieldset>
);
