import { useState } from 'react';
import type { Webhook } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { instantOf, localText, shownZone } from '../../ui/display/clock.ts';
import { count, momentText } from '../../ui/display/format.ts';
import { Field, Form, Tick } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { EventTicks, tickedEvents } from './events.tsx';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** A field for local times has whole minutes, so the last minute is included. */
const MINUTE_MS = 60_000;

/**
 * The earliest moment that a disabled endpoint may have missed something: an hour before, for what had failed
 * until then.
 */
const missedSince = ({ disabledAt }: Webhook): string | null =>
  disabledAt === null ? null : new Date(Date.parse(disabledAt) - HOUR_MS).toISOString();

/**
 * Posts what happened in a span of time again, such as after an outage of the receiver. A disabled endpoint
 * is enabled first.
 */
export function Replay({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const [isDisabled] = useState(webhook.status === 'disabled');
  const [from, setFrom] = useState(() =>
    localText(missedSince(webhook) ?? new Date(Date.now() - DAY_MS).toISOString()),
  );
  const [queued, setQueued] = useState<number | null>(null);
  const [rest, setRest] = useState<string | null>(null);
  const replay = useChange('POST /webhooks/{id}/replay');
  const update = useChange('PATCH /webhooks/{id}');
  return (
    <Dialog
      title={isDisabled ? 'Enable and post missed events' : 'Replay events'}
      onClose={onClose}
      width="max-w-xl"
    >
      {queued === null ? (
        <p className="text-dim">
          Events of this period are posted again, oldest first, at 50 per second and with the same IDs. Events
          that this endpoint never got, because it was disabled or did not exist yet, are included.
        </p>
      ) : (
        <p role="status">
          {queued === 0
            ? 'No matching events in this period.'
            : `${count(queued)} ${queued === 1 ? 'event is' : 'events are'} being replayed.`}
          {rest !== null && ` There are more: continue from ${momentText(rest)} when these are posted.`}
        </p>
      )}
      <Form
        key={from}
        action={isDisabled && queued === null ? 'Enable and post' : 'Replay events'}
        aside={<Button onClick={onClose}>{queued === null ? 'Cancel' : 'Done'}</Button>}
        onSend={async ({ from = '', to = '', onlyFailed, ...fields }) => {
          const until = instantOf(to);
          if (webhook.status === 'disabled')
            await update.mutateAsync({ path: { id: webhook.id }, body: { status: 'active' } });
          const answer = await replay.mutateAsync({
            path: { id: webhook.id },
            body: {
              from: instantOf(from) ?? '',
              to: until === undefined ? '' : new Date(Date.parse(until) + MINUTE_MS - 1).toISOString(),
              types: tickedEvents(fields),
              onlyFailed: onlyFailed === 'on',
            },
          });
          setQueued(answer.queued);
          setRest(answer.continueFrom);
          if (answer.continueFrom !== null) setFrom(localText(answer.continueFrom));
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="From"
            name="from"
            type="datetime-local"
            defaultValue={from}
            hint={`In the workspace time zone, ${shownZone()}.`}
          />
          <Field
            label="To"
            name="to"
            type="datetime-local"
            defaultValue={localText(new Date().toISOString())}
          />
        </div>
        <EventTicks legend="Event types" ticked={webhook.events} />
        <Tick
          name="onlyFailed"
          label="Only events that were not delivered"
          hint="Failed and skipped events, and events that were never posted to this endpoint."
          defaultChecked={isDisabled}
        />
      </Form>
    </Dialog>
  );
}
