import { lazy, type ReactNode, type RefObject, Suspense, useRef, useState } from 'react';
import type { Campaign } from '../../../../../client/operations.ts';
import { useRead } from '../../api/queries.ts';
import type { EditSession } from '../../editing/use-editing.ts';
import { useValue } from '../../editing/use-values.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Chips } from '../../ui/forms/chips.tsx';
import { Choice, Field, FieldProblem, TextArea, Tick } from '../../ui/forms/form.tsx';
import { OutsideForm } from '../../ui/forms/outside-form.tsx';
import type { SourceLine } from '../../ui/forms/source-line.ts';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { FieldMenu, insertInto, useMergeFields } from '../merge-fields.tsx';
import type { MergeFieldGroup } from '../message-fields.ts';
import { namesIn } from '../templates/known-fields.ts';
import { NEWS } from '../templates/starters/news.ts';
import { branded } from '../templates/starters/pieces.ts';
import type { KeptDesign } from '../visual/history.ts';
import { useKeptDesigns } from '../visual/kept.ts';
import { CANARY, type CampaignValues, CONTENT, objectIn, START, TRACKING } from './campaign-values.ts';

const Visual = lazy(() => import('../visual/visual-editor.tsx'));
const CodeEditor = lazy(() => import('../../ui/forms/code-editor.tsx'));

/** The first content of the visual editor, without the variables that only templates have. */
const NEWSLETTER = NEWS.newsletter.content.mjml
  .replaceAll('{{ month }}', 'November')
  .replaceAll('{{ storyUrl }}', 'https://example.com');
const VIEWS = { visual: 'Visual', code: 'Code' } as const;
export type ContentView = keyof typeof VIEWS;
const SOURCES = { mjml: 'MJML', html: 'HTML', markdown: 'Markdown' } as const;

/** The lists among variables in JSON, with the names of what their items have. */
const listsIn = (variables: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(objectIn(variables)).flatMap(([name, value]) =>
      Array.isArray(value) ? [[name, namesIn(value)]] : [],
    ),
  );

/** The fields of a draft. */
export function CampaignFields(props: {
  readonly editing: EditSession<Campaign, CampaignValues>;
  readonly audiences: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
  readonly view: ContentView;
  readonly onView: (view: ContentView) => void;
  readonly line: SourceLine;
}) {
  const { editing, audiences, templates, view, line } = props;
  const { base, set, valuesNow } = editing;
  const audienceId = useValue(editing, 'audienceId');
  const templateId = useValue(editing, 'templateId');
  const content = useValue(editing, 'content');
  const excluded = useValue(editing, 'excludeAudienceIds');
  const canary = useValue(editing, 'canary');
  const fields = useMergeFields();
  const { data: workspace } = useRead('GET /workspace', {});
  const newsletter = branded(NEWSLETTER, workspace?.branding);
  const isWritten = (source: string): boolean => ![START, newsletter].includes(source) && /\S/.test(source);
  const inserter = useRef<((text: string) => void) | null>(null);
  /** The source of each content type that was written here: saving forgets all but one. */
  const sources = useRef(new Map<string, string>());
  const [isAsking, setAsking] = useState(false);
  const isVisual = content === 'mjml' && view === 'visual';
  const keptDesign = useKeptDesigns();
  const knownOf = (type: string): string | undefined =>
    valuesNow().others[type] ??
    sources.current.get(type) ??
    (base.content === type ? base.source : undefined);
  const change = (next: CampaignValues['content']) => {
    const values = valuesNow();
    sources.current.set(content, values.source);
    const source = knownOf(next) ?? (next === 'mjml' ? newsletter : values.source);
    const { [next]: _, ...others } = values.others;
    const isStored = content === base.content && values.source === base.source;
    const isKept = content !== 'template' && isWritten(values.source) && !isStored;
    set({ content: next, source, others: isKept ? { ...others, [content]: values.source } : others });
  };
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
      <WithVariables label="Subject">
        <Field label="Subject" name="subject" />
      </WithVariables>
      <WithVariables label="Preview text">
        <Field label="Preview text" name="previewText" hint="The text that inboxes show after the subject." />
      </WithVariables>
      <Choice
        label="Content type"
        name="content"
        options={CONTENT}
        onChange={(next) => {
          const isNew = next === 'mjml' && knownOf(next) === undefined;
          if (isNew && content !== 'template' && isWritten(valuesNow().source)) {
            // The choice waits for the answer.
            set({ content });
            setAsking(true);
          } else change(next as CampaignValues['content']);
        }}
      />
      {isAsking && content !== 'template' && (
        <OutsideForm>
          <Confirm
            title="Begin a new message?"
            action="Begin new message"
            keep={`Keep ${SOURCES[content]}`}
            onClose={() => setAsking(false)}
            onConfirm={async () => change('mjml')}
          >
            The visual editor cannot take over {SOURCES[content]}; it begins with a sample newsletter. Choose{' '}
            {SOURCES[content]} again to have your text back. Saving replaces it.
          </Confirm>
        </OutsideForm>
      )}
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
          <div className="mb-1 flex flex-wrap items-center justify-between gap-2">
            {content === 'mjml' ? (
              <Chips label="Edit" options={VIEWS} value={view} onChange={props.onView} />
            ) : (
              <span />
            )}
            {!isVisual && (
              <FieldMenu
                groups={fields}
                into="Content"
                className="button button-quiet"
                onPick={(liquid) => inserter.current?.(liquid)}
              />
            )}
          </div>
          <div className={`overflow-hidden rounded-lg border border-edge-strong ${isVisual ? '' : 'h-96'}`}>
            <Suspense fallback={<Skeleton className="h-96 w-full" />}>
              <Source
                editing={editing}
                content={content}
                isVisual={isVisual}
                fields={fields}
                line={line}
                inserter={inserter}
                kept={keptDesign('')}
              />
            </Suspense>
          </div>
          <FieldProblem name={content} />
        </div>
      )}
      {content === 'template' && (
        <Field
          label="Language"
          name="language"
          placeholder="de"
          hint="A translation of the template, for all contacts. Empty: each contact gets the language of its property “language”."
        />
      )}
      {(content === 'template' || content === 'mjml') && (
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
      {canary && (
        <div className="grid gap-4 sm:grid-cols-2">
          {CANARY.map(([name, label, inputMode]) => (
            <Field key={name} label={label} name={`canary/${name}`} inputMode={inputMode} />
          ))}
        </div>
      )}
    </>
  );
}

/** The source in its editor: alone rendered while it is typed. */
function Source({
  editing,
  content,
  isVisual,
  fields,
  line,
  inserter,
  kept,
}: {
  readonly editing: EditSession<Campaign, CampaignValues>;
  readonly content: keyof typeof SOURCES;
  readonly isVisual: boolean;
  readonly fields: readonly MergeFieldGroup[];
  readonly line: SourceLine;
  readonly inserter: RefObject<((text: string) => void) | null>;
  readonly kept: KeptDesign;
}) {
  const { set } = editing;
  const source = useValue(editing, 'source');
  const variables = useValue(editing, 'variables');
  const onChange = (next: string) => set({ source: next });
  return isVisual ? (
    <Visual
      source={source}
      kept={kept}
      isReadOnly={false}
      fields={fields}
      lists={listsIn(variables)}
      onChange={onChange}
      onCode={line.show}
    />
  ) : (
    <CodeEditor
      key={content}
      label={`${SOURCES[content]} source`}
      language={content === 'mjml' ? 'html' : content}
      value={source}
      onChange={onChange}
      inserter={inserter}
      {...line.editor}
    />
  );
}

/** A field with a menu of variables that inserts them into it. */
function WithVariables(props: { readonly label: string; readonly children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  const fields = useMergeFields();
  return (
    <div ref={frame} className="relative">
      {props.children}
      <span className="absolute -top-1.5 right-0">
        <FieldMenu
          groups={fields}
          into={props.label}
          isSmall
          onPick={(liquid) => insertInto(frame.current?.querySelector('input') ?? null, liquid)}
        />
      </span>
    </div>
  );
}
