import { useState } from 'react';
import type { Campaign } from '../../api/operations.ts';
import { useRead } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { Toggle } from '../../ui/chips.tsx';
import { Facts } from '../../ui/page.tsx';
import { PreviewFrame } from '../../ui/preview-frame.tsx';
import { Skeleton } from '../../ui/states.tsx';

/** What somebody gets, as it was saved last: somebody unknown, or a contact. */
export function CampaignPreview({ campaign }: { readonly campaign: Campaign }) {
  const [contactId, setContactId] = useState('');
  const [isPhone, setPhone] = useState(false);
  const { data, error } = useRead('GET /campaigns/{id}/preview', {
    path: { id: campaign.id },
    query: { ...(contactId !== '' && { contactId }) },
  });
  return (
    <section aria-label="Preview" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-2 border-b border-edge px-3 py-2">
        <input
          aria-label="Show it for the contact with this id"
          placeholder="As for the contact con_…"
          defaultValue={contactId}
          spellCheck={false}
          autoComplete="off"
          onBlur={({ target }) => setContactId(target.value.trim())}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && setContactId(currentTarget.value.trim())}
          className="field field-small w-auto min-w-0 flex-1"
        />
        <Toggle text="Phone" isOn={isPhone} onChange={setPhone} />
      </div>
      {error && (
        <div data-color="bad" className="grid gap-1 p-4">
          <p className="font-medium">It cannot be shown yet.</p>
          {(error instanceof Refused && error.details.length > 0
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
            <Facts facts={{ From: data.from, Subject: <strong>{data.subject}</strong> }} />
          </div>
          {data.html === null ? (
            <pre className="p-4 font-sans break-words whitespace-pre-wrap">{data.text}</pre>
          ) : (
            <PreviewFrame title="The message" html={data.html} isPhone={isPhone} isDark={false} />
          )}
        </>
      )}
    </section>
  );
}
