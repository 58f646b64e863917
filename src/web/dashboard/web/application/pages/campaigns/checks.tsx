import type { Campaign } from '../../api/operations.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { count } from '../../ui/display/format.ts';
import { Card } from '../../ui/page.tsx';

interface Check {
  readonly text: string;
  readonly more: string;
  readonly isGood: boolean | null;
}

/** The titles of warnings. Filters of receivers have their own opinions; nothing here keeps a campaign from being sent. */
const WARNED: Readonly<Record<string, string>> = {
  encoded_placeholder: 'A placeholder that is not filled in',
  image_only: 'Few words beside a picture',
  odd_links: 'An odd number of links',
};

/** What has to be true before a campaign starts. The service checks all of it again when it is sent. */
export function Checks(props: {
  readonly campaign: Campaign;
  readonly isLive: boolean;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  /** Saves what is on the screen, and asks then. */
  readonly onSend: () => Promise<void>;
}) {
  const { campaign } = props;
  const audience = useRead('GET /audiences/{id}', { path: { id: campaign.audienceId } });
  const preview = useRead('GET /campaigns/{id}/preview', { path: { id: campaign.id }, query: {} });
  const people = audience.data?.contactCount ?? null;
  const warnings = preview.data?.warnings ?? [];
  const hasOwnExit = warnings.every(({ code }) => code !== 'no_unsubscribe_link');
  const checks: readonly Check[] = [
    {
      text: audience.data ? `Audience “${audience.data.name}”` : 'An audience',
      more:
        people === null
          ? 'Its people are counted when it starts.'
          : `${people === 1 ? '1 contact' : `${count(people)} contacts`} now. Who has left is passed over.`,
      isGood: audience.error ? false : audience.data ? people !== 0 : null,
    },
    {
      text: 'The content can be rendered',
      more: preview.error
        ? 'See the preview for what is wrong.'
        : 'Also for somebody of whom nothing is known.',
      isGood: preview.error ? false : preview.data ? true : null,
    },
    {
      text: 'A sender',
      more: preview.data?.from ?? 'Name one, or set a default one in the settings of the workspace.',
      isGood: preview.data ? true : preview.error ? false : null,
    },
    {
      text: 'A way to leave',
      more: hasOwnExit
        ? 'The message has a link of its own. Whoever does not see it gets another one.'
        : 'A link is added at the end, since not every reader sees one of the message’s own.',
      isGood: preview.data ? true : null,
    },
    ...warnings
      .filter(({ code }) => code !== 'no_unsubscribe_link')
      .map(({ code, message }) => ({ text: WARNED[code] ?? 'Worth a look', more: message, isGood: null })),
  ];
  // What is not saved yet is checked by the service when it is.
  const isReady = props.isChanged || checks.every(({ isGood }) => isGood !== false);
  return (
    <Card title="Before it is sent">
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
          busy={props.isSaving}
          aria-disabled={!isReady}
          onClick={() => isReady && void props.onSend()}
        >
          Send or schedule
        </Button>
      ) : (
        <p className="text-dim">
          A campaign of the test environment is never sent. Write it here, send it live.
        </p>
      )}
    </Card>
  );
}
