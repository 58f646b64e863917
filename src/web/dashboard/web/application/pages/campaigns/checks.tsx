import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isForSender } from '../../../../../../automation/campaigns/preview/missing.ts';
import type { Campaign } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import type { EditSession } from '../../editing/use-editing.ts';
import { useValue } from '../../editing/use-values.ts';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Card, ToLive } from '../../ui/page.tsx';
import type { CampaignValues } from './campaign-values.ts';

interface Check {
  readonly text: string;
  readonly more: ReactNode;
  readonly isGood: boolean | null;
}

/** The titles of warnings. Receivers' filters vary, so warnings never prevent sending. */
const WARNED: Readonly<Record<string, string>> = {
  encoded_placeholder: 'A placeholder was not filled in',
  foreign_placeholder: 'A placeholder of another service',
  image_only: 'Little text beside an image',
  odd_links: 'Unusual number of links',
};

const NO_SENDER = (
  <>
    Enter a sender at a domain that you have added under{' '}
    <Link href="/domains" className="link">
      Domains
    </Link>
    , or set a default one in the{' '}
    <Link href="/settings" className="link">
      workspace settings
    </Link>
    .
  </>
);

/** True where the refusal of a preview asks for a sender. */
export const isAboutSender = (error: Error | null): boolean =>
  error instanceof RequestError && error.details.some(isForSender);

/** The conditions for starting a campaign. The service checks all of them again when the campaign is sent. */
export function Checks(props: {
  readonly campaign: Campaign;
  readonly isLive: boolean;
  readonly editing: EditSession<Campaign, CampaignValues>;
  /** Saves what is on the screen, and asks then. */
  readonly onSend: () => Promise<void>;
}) {
  const { campaign, editing } = props;
  const typedSender = useValue(editing, 'from').trim();
  const audience = useRead('GET /audiences/{id}', { path: { id: campaign.audienceId } });
  const preview = useRead('GET /campaigns/{id}/preview', { path: { id: campaign.id }, query: {} });
  const people = audience.data?.contactCount ?? null;
  const warnings = preview.data?.warnings ?? [];
  const hasOwnExit = warnings.every(({ code }) => code !== 'no_unsubscribe_link');
  // Without a sender there is no preview: that says nothing about the content.
  const lacksSender = !campaign.from && isAboutSender(preview.error);
  const isTyped = lacksSender && typedSender !== '';
  const checks: readonly Check[] = [
    {
      text: audience.data ? `Audience “${audience.data.name}”` : audience.error ? 'No audience' : 'Audience',
      more:
        people === null
          ? 'Contacts are counted when the campaign starts.'
          : `${people === 1 ? '1 contact' : `${count(people)} contacts`} now. Unsubscribed contacts are skipped.`,
      isGood: audience.error ? false : audience.data ? people !== 0 : null,
    },
    {
      text: 'Content renders without errors',
      more: lacksSender
        ? 'Checked once there is a sender.'
        : preview.error
          ? 'See the preview for the error.'
          : 'Even for a contact without any data.',
      isGood: lacksSender ? null : preview.error ? false : preview.data ? true : null,
    },
    {
      text: 'Sender',
      more: isTyped ? `${typedSender}, checked when you save.` : (preview.data?.from ?? NO_SENDER),
      isGood: preview.data ? true : preview.error && !isTyped ? false : null,
    },
    {
      text: 'Unsubscribe link',
      more: hasOwnExit
        ? 'The message has its own link. Contacts who do not get that part get another link.'
        : 'A link is added at the end, because some contacts do not get the message’s own link.',
      isGood: preview.data ? true : null,
    },
    ...warnings
      .filter(({ code }) => code !== 'no_unsubscribe_link')
      .map(({ code, message }) => ({ text: WARNED[code] ?? 'Worth checking', more: message, isGood: null })),
  ];
  // The service checks unsaved changes when they are saved.
  const isReady = editing.isChanged || checks.every(({ isGood }) => isGood !== false);
  return (
    <Card title="Before sending">
      <ul className="grid gap-3">
        {checks.map(({ text, more, isGood }) => (
          <li
            key={text}
            data-color={isGood === null ? 'quiet' : isGood ? 'good' : 'bad'}
            className="grid grid-cols-[1.25rem_minmax(0,1fr)] gap-x-2"
          >
            <span aria-hidden="true" className="state-text font-semibold">
              {isGood === null ? (preview.data ? '!' : '…') : isGood ? '✓' : '✕'}
            </span>
            <span className="min-w-0">
              <span className="block font-medium">
                {text}
                {isGood === false && <span className="sr-only"> (missing)</span>}
              </span>
              <span className="block text-caption break-words text-dim">{more}</span>
            </span>
          </li>
        ))}
      </ul>
      {props.isLive ? (
        <Button
          look="main"
          busy={editing.isSaving}
          aria-disabled={!isReady}
          onClick={() => isReady && void props.onSend()}
        >
          Send or schedule
        </Button>
      ) : (
        <p className="text-dim">
          Campaigns in the test environment are never sent. Live has its own contacts, audiences and
          campaigns: <ToLive to="/campaigns">write it in live</ToLive> to send it.
        </p>
      )}
    </Card>
  );
}
