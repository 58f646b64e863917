import { useState } from 'react';
import { instantOf, shownZone } from '../../../clock.ts';
import type { Campaign } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Choice, Field, Form } from '../../ui/form.tsx';
import { count, momentText } from '../../ui/format.ts';
import { toast } from '../../ui/toast.tsx';

const WHEN = { now: 'Now', later: 'At a time of my own' } as const;

/** Starts or schedules a campaign. What leaves cannot be called back, so the number of people is asked for. */
export function SendCampaign(props: {
  readonly campaign: Campaign;
  readonly people: number | null;
  readonly onClose: () => void;
}) {
  const { campaign, people, onClose } = props;
  const [when, setWhen] = useState<keyof typeof WHEN>('now');
  const send = useChange('POST /campaigns/{id}/send');
  const word = people === null ? 'send' : String(people);
  return (
    <Dialog title={`Send “${campaign.name}”`} onClose={onClose}>
      <Form
        action={when === 'now' ? 'Send it now' : 'Schedule it'}
        aside={<Button onClick={onClose}>Not yet</Button>}
        onSend={async ({ confirmed = '', scheduledAt = '' }) => {
          if (when === 'now' && confirmed.replace(/[,.\s]/g, '') !== word)
            throw new Refused(422, 'Not confirmed', null, [
              { path: '/body/confirmed', message: `Enter ${word} to confirm.` },
            ]);
          const at = when === 'later' ? { scheduledAt: instantOf(scheduledAt) ?? '' } : {};
          await send.mutateAsync({ path: { id: campaign.id }, body: at });
          toast(when === 'now' ? 'It is on its way.' : 'It is scheduled.');
          onClose();
        }}
      >
        <Choice
          label="When"
          name="when"
          options={WHEN}
          onChange={(value) => setWhen(value as keyof typeof WHEN)}
        />
        {when === 'now' ? (
          <Field
            label={
              people === null
                ? 'Enter “send” to confirm'
                : `Enter the number of people, ${count(people)}, to confirm`
            }
            name="confirmed"
            hint="What has left cannot be called back. Those who have left or bounced are passed over."
          />
        ) : (
          <Field
            label="Start at"
            name="scheduledAt"
            type="datetime-local"
            hint={`In the time zone of the workspace, ${shownZone()}; at most 30 days ahead.`}
          />
        )}
      </Form>
    </Dialog>
  );
}

/** When it starts, in words. */
export const startText = (at: string): string =>
  `It starts ${momentText(at)} (${shownZone()}), with whoever is in the audience then.`;
