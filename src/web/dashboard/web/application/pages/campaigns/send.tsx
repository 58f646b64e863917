import { type ReactNode, useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Button } from '../../ui/button.tsx';
import { instantOf, shownZone } from '../../ui/display/clock.ts';
import { count, momentText } from '../../ui/display/format.ts';
import { PreviewFrame } from '../../ui/display/preview-frame.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Choice, Field, Form } from '../../ui/forms/form.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Facts } from '../../ui/page.tsx';
import { ContactPicker } from '../contact-picker.tsx';

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
    <Dialog title={`Send “${campaign.name}”`} onClose={onClose} width="max-w-4xl">
      <WhatIsSent
        campaign={campaign}
        more={{ Audience: audience.data?.name, Contacts: people === null ? null : count(people) }}
      >
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
      </WhatIsSent>
    </Dialog>
  );
}

/** Those of whom one is shown: one of them is probably in no excluded audience. */
const FEW = 10;

/**
 * The saved message that is about to leave, as a contact of its audience would see it, beside its facts and
 * what is asked; below them where the window is narrow. Only the start itself knows who gets it, so no
 * sentence says that this contact does.
 */
export function WhatIsSent(props: {
  readonly campaign: Campaign;
  readonly more?: Readonly<Record<string, ReactNode>>;
  /** The form that sends it. */
  readonly children: ReactNode;
}) {
  const { id, subject, from, audienceId, excludeAudienceIds } = props.campaign;
  const { may } = useViewer();
  const [chosen, setChosen] = useState('');
  const first = useRead(
    'GET /contacts',
    { query: { audienceId, status: 'subscribed', limit: FEW } },
    { enabled: may('contacts:read'), every: false },
  );
  const isExcluded = (id: string) => excludeAudienceIds.includes(id);
  const contactId = chosen || first.data?.find(({ audienceIds }) => !audienceIds.some(isExcluded))?.id;
  const preview = useRead(
    'GET /campaigns/{id}/preview',
    { path: { id }, query: { contactId } },
    { enabled: !may('contacts:read') || first.data !== undefined || first.error !== null },
  );
  const contact = useRead(
    'GET /contacts/{contact}',
    { path: { contact: contactId ?? '' } },
    { enabled: contactId !== undefined },
  );
  const { data, error } = preview;
  return (
    <div className="grid gap-4 md:grid-cols-2 md:items-start">
      <div className="grid gap-4">
        <div className="rounded-lg border border-edge bg-sunk px-4 py-3">
          <Facts
            facts={{
              Subject: <strong>{data?.subject ?? subject}</strong>,
              From: data?.from ?? from,
              ...props.more,
            }}
          />
        </div>
        {props.children}
      </div>
      <section
        aria-label="Message that is sent"
        className="min-w-0 overflow-hidden rounded-lg border border-edge"
      >
        <div className="grid gap-2 border-b border-edge px-3 py-2">
          <p className="text-caption break-words text-dim">
            {contactId === undefined
              ? first.isLoading
                ? 'Looking for a contact of the audience…'
                : 'As a contact without any data would see it.'
              : `As ${contact.data?.email ?? '…'} would see it.`}
          </p>
          {may('contacts:read') && (
            <span className="flex">
              <ContactPicker label="Show it for another contact" onChange={setChosen} />
            </span>
          )}
        </div>
        {error ? (
          <p role="alert" data-color="bad" className="state-text p-3 break-words">
            {(error instanceof RequestError && error.details[0]?.message) || error.message}
          </p>
        ) : data === undefined ? (
          <Skeleton className="m-3 h-60" />
        ) : data.html === null ? (
          <pre className="max-h-96 overflow-y-auto p-3 font-sans break-words whitespace-pre-wrap">
            {data.text}
          </pre>
        ) : (
          <PreviewFrame title="Message that is sent" html={data.html} isPhone={false} isDark={false} isLow />
        )}
      </section>
    </div>
  );
}

/** When it starts, in words. */
export const startText = (at: string): string =>
  `Starts ${momentText(at)} (${shownZone()}), with the audience of that moment.`;
