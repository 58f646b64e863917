import { useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { useQuestion, useRead, useSettled } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { PreviewFrame } from '../../ui/display/preview-frame.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Toggle } from '../../ui/forms/chips.tsx';
import { Facts } from '../../ui/page.tsx';
import { ContactPicker } from '../contact-picker.tsx';
import { type CampaignValues, objectIn } from './campaign-values.ts';

/** The pause after the last key: with the answer, the preview follows within 300 ms. */
const SETTLE_MS = 150;

/** The unsaved content, rendered by the service for an unknown contact; the service stores none of it. */
function useUnsaved(values: CampaignValues | null) {
  const { subject = '', previewText = '', content = '', source = '', variables = '' } = values ?? {};
  const asked = JSON.stringify({
    ...(subject.trim() !== '' && { subject }),
    ...(previewText.trim() !== '' && { previewText }),
    ...(content === 'markdown'
      ? { format: 'emailmd', markdown: source }
      : { format: content, [content]: source }),
    variables: objectIn(variables),
  });
  const settled = useSettled(asked, SETTLE_MS);
  return useQuestion(
    'POST /templates/render-preview',
    { body: JSON.parse(settled) },
    { enabled: values !== null },
  );
}

/**
 * The message for an unknown contact or for a chosen one. Unsaved changes are shown as they are on the
 * screen.
 */
export function CampaignPreview({
  campaign,
  unsaved = null,
}: {
  readonly campaign: Campaign;
  readonly unsaved?: CampaignValues | null;
}) {
  const [contactId, setContactId] = useState('');
  const [isPhone, setPhone] = useState(false);
  const saved = useRead('GET /campaigns/{id}/preview', {
    path: { id: campaign.id },
    query: { ...(contactId !== '' && { contactId }) },
  });
  const now = useUnsaved(unsaved);
  const { data, error } = unsaved === null ? saved : now;
  return (
    <section aria-label="Preview" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-2 border-b border-edge px-3 py-2">
        {unsaved === null ? (
          <ContactPicker label="Show it for this contact" onChange={setContactId} />
        ) : (
          <p className="min-w-0 flex-1 text-dim">Not saved yet</p>
        )}
        <Toggle text="Phone" isOn={isPhone} onChange={setPhone} />
      </div>
      {error && (
        <div data-color="bad" className="grid gap-1 p-4">
          <p className="font-medium">The preview is not available yet.</p>
          {(error instanceof RequestError && error.details.length > 0
            ? error.details.map(({ message }) => message)
            : [error.message]
          ).map((text) => (
            <p key={text} className="state-text break-words">
              {text}
            </p>
          ))}
        </div>
      )}
      {!error && !data && <Skeleton className="m-4 h-80" />}
      {!error && data && (
        <>
          <div className="border-b border-edge px-4 py-3">
            <Facts
              facts={{
                From: unsaved === null ? data.from : unsaved.from || saved.data?.from,
                Subject: <strong>{data.subject}</strong>,
                Language: data.language,
              }}
            />
          </div>
          {data.html === null ? (
            <pre className="p-4 font-sans break-words whitespace-pre-wrap">{data.text}</pre>
          ) : (
            <PreviewFrame title="Message" html={data.html} isPhone={isPhone} isDark={false} />
          )}
        </>
      )}
    </section>
  );
}
