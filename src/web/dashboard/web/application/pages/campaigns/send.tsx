import { type ReactNode, useState } from 'react';
import { instantOf, shownZone } from '../../../clock.ts';
import type { Campaign } from '../../api/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { Button } from '../../ui/button.tsx';
import { count, momentText } from '../../ui/display/format.ts';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Facts } from '../../ui/page.tsx';

const WHEN = { now: 'Now', later: 'At a time of my own' } as const;

/**
 * Starts or schedules a campaign as it was saved, which is as it is shown here: one that somebody else changes meanwhile is not sent. What
 * leaves cannot be called back, so the number of people is asked for.
 */
export function SendCampaign(props: { readonly campaign: Campaign; readonly onClose: () => void }) {
  const { campaign, onClose } = props;
  const [when, setWhen] = useState<keyof typeof WHEN>('now');
  const send = useChange('POST /campaigns/{id}/send');
  const path = { id: campaign.id };
  const audience = useRead('GET /audiences/{id}', { path: { id: campaign.audienceId } });
  const people = audience.data?.contactCount ?? null;
  const word = people === null ? 'send' : String(people);
  return (
    <Dialog title={`Send “${campaign.name}”`} onClose={onClose}>
      <WhatIsSent
        campaign={campaign}
        more={{ Audience: audience.data?.name, Contacts: people === null ? null : count(people) }}
      />
      <Form
        action={when === 'now' ? 'Send it now' : 'Schedule it'}
        aside={<Button onClick={onClose}>Not yet</Button>}
        onSend={async ({ confirmed = '', scheduledAt = '' }) => {
          if (when === 'now' && confirmed.replace(/[,.\s]/g, '') !== word)
            throw new Refused(422, 'Not confirmed', null, [
              { path: '/body/confirmed', message: `Enter ${word} to confirm.` },
            ]);
          const at = when === 'later' ? { scheduledAt: instantOf(scheduledAt) ?? '' } : {};
          await send.mutateAsync({ path, body: { ...at, ifUpdatedAt: campaign.updatedAt } });
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

/** What leaves, as it was saved. */
export function WhatIsSent(props: {
  readonly campaign: Campaign;
  readonly more?: Readonly<Record<string, ReactNode>>;
}) {
  const { id, subject, from } = props.campaign;
  const preview = useRead('GET /campaigns/{id}/preview', { path: { id }, query: {} });
  return (
    <div className="rounded-lg border border-edge bg-sunk px-4 py-3">
      <Facts
        facts={{
          Subject: <strong>{preview.data?.subject ?? subject}</strong>,
          From: preview.data?.from ?? from,
          ...props.more,
        }}
      />
    </div>
  );
}

/** When it starts, in words. */
export const startText = (at: string): string =>
  `It starts ${momentText(at)} (${shownZone()}), with whoever is in the audience then.`;
