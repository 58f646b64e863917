import { type ReactNode, useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { Button } from '../../ui/button.tsx';
import { instantOf, shownZone } from '../../ui/display/clock.ts';
import { count, momentText } from '../../ui/display/format.ts';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Facts } from '../../ui/page.tsx';

const WHEN = { now: 'Now', later: 'At a set time' } as const;

/**
 * Starts or schedules a campaign as saved, which is as shown here: a change by another member in between
 * stops it. Sent email cannot be recalled, so the form asks for the number of contacts.
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
        action={when === 'now' ? 'Send now' : 'Schedule campaign'}
        aside={<Button onClick={onClose}>Cancel</Button>}
        onSend={async ({ confirmed = '', scheduledAt = '' }) => {
          if (when === 'now' && confirmed.replace(/[,.\s]/g, '') !== word)
            throw new RequestError(422, 'Not confirmed', null, [
              { path: '/body/confirmed', message: `Enter ${word} to confirm.` },
            ]);
          const at = when === 'later' ? { scheduledAt: instantOf(scheduledAt) ?? '' } : {};
          await send.mutateAsync({ path, body: { ...at, ifUpdatedAt: campaign.updatedAt } });
          toast(when === 'now' ? 'Campaign started' : 'Campaign scheduled');
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
                : `Enter the number of contacts, ${count(people)}, to confirm`
            }
            name="confirmed"
            hint="Sent email cannot be recalled. Contacts who unsubscribed or bounced are skipped."
          />
        ) : (
          <Field
            label="Start at"
            name="scheduledAt"
            type="datetime-local"
            hint={`In the workspace time zone, ${shownZone()}; at most 30 days ahead.`}
          />
        )}
      </Form>
    </Dialog>
  );
}

/** A summary of the saved message that is about to leave. */
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
  `Starts ${momentText(at)} (${shownZone()}), with the audience of that moment.`;
