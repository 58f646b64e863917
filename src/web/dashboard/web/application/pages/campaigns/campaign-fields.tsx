import { lazy, Suspense } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import type { EditSession } from '../../editing/use-editing.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Choice, Field, FieldProblem, TextArea, Tick } from '../../ui/forms/form.tsx';
import { MergeFields } from '../merge-fields.tsx';
import { CANARY, type CampaignValues, CONTENT, TRACKING } from './campaign-values.ts';

const CodeEditor = lazy(() => import('../../ui/forms/code-editor.tsx'));

/** The fields of a draft. */
export function CampaignFields(props: {
  readonly editing: EditSession<Campaign, CampaignValues>;
  readonly audiences: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
}) {
  const { audiences, templates } = props;
  const { values, set } = props.editing;
  const { audienceId, templateId, content, excludeAudienceIds: excluded } = values;
  return (
    <>
      <Field label="Name" name="name" hint="Recipients never see it." />
      <Choice label="Audience" name="audienceId" options={{ [audienceId]: 'Audience', ...audiences }} />
      {Object.keys(audiences).length > 1 && (
        <details className="rounded-lg border border-edge px-3 py-2">
          <summary className="cursor-pointer font-medium">
            Exclude
            {excluded.length > 0 && ` (${excluded.length})`}
          </summary>
          <div className="mt-2 grid gap-2">
            {Object.entries(audiences).map(([each, text]) => (
              <Tick
                key={each}
                label={text}
                checked={excluded.includes(each)}
                onChange={({ target }) =>
                  set({
                    excludeAudienceIds: target.checked
                      ? [...excluded, each]
                      : excluded.filter((id) => id !== each),
                  })
                }
              />
            ))}
            <FieldProblem name="excludeAudienceIds" />
          </div>
        </details>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="From"
          name="from"
          placeholder="Acme <news@acme.example>"
          hint="Empty: the sender of the template or of the workspace."
        />
        <Field label="Reply to" name="replyTo" />
      </div>
      <Field label="Subject" name="subject" />
      <Field label="Preview text" name="previewText" hint="The text that inboxes show after the subject." />
      <Choice label="Content type" name="content" options={CONTENT} />
      {content === 'template' ? (
        <Choice
          label="Template"
          name="templateId"
          options={{
            '': 'Select…',
            ...(templateId !== '' && { [templateId]: templateId }),
            ...templates,
          }}
        />
      ) : (
        <div>
          <div className="h-96 overflow-hidden rounded-lg border border-edge-strong">
            <Suspense fallback={<Skeleton className="h-96 w-full" />}>
              <CodeEditor
                key={content}
                label={content === 'html' ? 'HTML source' : 'Markdown source'}
                language={content}
                value={values.source}
                onChange={(source) => set({ source })}
              />
            </Suspense>
          </div>
          <FieldProblem name={content} />
        </div>
      )}
      {content !== 'template' && <MergeFields />}
      {content === 'template' && (
        <TextArea
          label="Template variables"
          name="variables"
          placeholder={'{ "month": "July" }'}
          hint="JSON, the same for every contact. Data of each contact is filled in automatically."
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice label="Track opens" name="trackOpens" options={TRACKING} />
        <Choice label="Track clicks" name="trackClicks" options={TRACKING} />
      </div>
      <Field
        label="Sending speed"
        name="ratePerHour"
        inputMode="numeric"
        hint="Emails per hour, evenly spread. Empty: no limit."
      />
      <Tick
        label="Send to a sample first"
        name="canary"
        hint="The rest follows if bounces and complaints stay below the limits."
      />
      {values.canary && (
        <div className="grid gap-4 sm:grid-cols-2">
          {CANARY.map(([name, label, inputMode]) => (
            <Field key={name} label={label} name={`canary/${name}`} inputMode={inputMode} />
          ))}
        </div>
      )}
    </>
  );
}
