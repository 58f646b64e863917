import { useMemo, useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { previewPace } from '../../api/preview-pace.ts';
import { useRead, useRendered } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import type { EditSession } from '../../editing/use-editing.ts';
import { useSettledValues, useValue } from '../../editing/use-values.ts';
import { PreviewFrame } from '../../ui/display/preview-frame.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Toggle } from '../../ui/forms/chips.tsx';
import { Facts } from '../../ui/page.tsx';
import { ContactPicker } from '../contact-picker.tsx';
import { type CampaignValues, objectIn } from './campaign-values.ts';
import { isAboutSender } from './checks.tsx';

/** The fields that the preview shows. */
const RENDERED = ['from', 'subject', 'previewText', 'content', 'source', 'variables'] as const;

/** The unsaved content as the service is asked to render it; null for what is stored, and for a template. */
function unsavedIn(values: CampaignValues, base: CampaignValues): string | null {
  const { subject, previewText, content, source, variables } = values;
  if (content === 'template' || RENDERED.every((name) => values[name] === base[name])) return null;
  return JSON.stringify({
    ...(subject.trim() !== '' && { subject }),
    ...(previewText.trim() !== '' && { previewText }),
    ...(content === 'markdown'
      ? { format: 'emailmd', markdown: source }
      : { format: content, [content]: source }),
    variables: objectIn(variables),
  });
}

/**
 * The message of a draft. Unsaved changes are shown as they are on the screen, for an unknown contact; the
 * service stores none of it.
 */
export function DraftPreview({
  campaign,
  editing,
}: {
  readonly campaign: Campaign;
  readonly editing: EditSession<Campaign, CampaignValues>;
}) {
  const { base, changed } = editing;
  const values = useSettledValues(editing, previewPace.changed);
  const body = useMemo(() => unsavedIn(values, base), [values, base]);
  const answer = useRendered(body);
  const isTemplate = useValue(editing, 'content') === 'template';
  const isUnsaved = !isTemplate && RENDERED.some((name) => changed.includes(name));
  const sender = useValue(editing, 'from').trim();
  return (
    <CampaignPreview
      campaign={campaign}
      isSenderTyped={sender !== '' && changed.includes('from')}
      unsaved={isUnsaved ? { from: values.from, answer: body === null ? null : answer } : null}
    />
  );
}

/** The message for an unknown contact or for a chosen one. */
export function CampaignPreview({
  campaign,
  unsaved = null,
  isSenderTyped = false,
}: {
  readonly campaign: Campaign;
  /** True for a sender that is not saved: a message of a template is rendered with what is stored. */
  readonly isSenderTyped?: boolean;
  /** The answer for what is not saved, and its sender. */
  readonly unsaved?: { readonly from: string; readonly answer: ReturnType<typeof useRendered> | null } | null;
}) {
  const [contactId, setContactId] = useState('');
  const [isPhone, setPhone] = useState(false);
  const saved = useRead('GET /campaigns/{id}/preview', {
    path: { id: campaign.id },
    query: { ...(contactId !== '' && { contactId }) },
  });
  const { error } = unsaved?.answer ?? saved;
  // Until the first answer, what is stored stays in sight, and while a source cannot be rendered, the last
  // preview that worked.
  const data = unsaved ? (unsaved.answer?.data ?? saved.data) : error ? undefined : saved.data;
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
      {error && isSenderTyped && isAboutSender(error) ? (
        <p className="p-4 text-dim">The message is shown once the sender is saved.</p>
      ) : (
        error && (
          <div data-color="bad" className="grid gap-1 p-4">
            <p className="font-medium">
              {data
                ? 'The source cannot be rendered. This is the last preview that worked.'
                : 'The preview is not available yet.'}
            </p>
            {(error instanceof RequestError && error.details.length > 0
              ? error.details.map(({ message }) => message)
              : [error.message]
            ).map((text) => (
              <p key={text} className="state-text break-words">
                {text}
              </p>
            ))}
          </div>
        )
      )}
      {!error && !data && <Skeleton className="m-4 h-80" />}
      {data && (
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
