import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import type { Template } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { EditingNotes, SaveState } from '../../editing/editing-notes.tsx';
import { useEditing } from '../../editing/use-editing.ts';
import { useSelected, useValue } from '../../editing/use-values.ts';
import { useKeys } from '../../shell/keys.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { usePainted } from '../../ui/charts/painted.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { Chips } from '../../ui/forms/chips.tsx';
import { useSourceLine } from '../../ui/forms/source-line.ts';
import { icons } from '../../ui/icons.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Page } from '../../ui/page.tsx';
import { CheckPanel } from '../check.tsx';
import { FieldMenu, useMergeFields } from '../merge-fields.tsx';
import { useKeptDesigns } from '../visual/kept.ts';
import { TemplateActions } from './actions.tsx';
import {
  changesOf,
  DETAIL_NAMES,
  type Draft,
  draftOf,
  LABELS,
  patchOf,
  type VariableRow,
  valuesOf,
} from './draft.ts';
import { FORMATS, KINDS } from './formats.ts';
import { fieldsOf, listsOf } from './known-fields.ts';
import { ContentBlocks, ContentCode, ContentLine } from './languages/content-fields.tsx';
import { LanguageSwitch } from './languages/language-switch.tsx';
import { translationFor } from './languages/translation-draft.ts';
import { Preview, usePreview } from './preview.tsx';
import { TemplateSettings } from './settings.tsx';
import { UsedBy } from './used-by.tsx';
import { Values } from './values.tsx';
import { Variables } from './variables.tsx';

const PickImage = lazy(() => import('../images/pick-image.tsx'));

const PANES = {
  visual: 'Visual',
  source: 'Source',
  text: 'Text part',
  variables: 'Variables',
  settings: 'Settings',
} as const;
type Pane = keyof typeof PANES;

/** Edits a template beside its preview, read-only for viewers. */
export default function TemplateEditor({ template }: { readonly template: Template }) {
  const { may } = useViewer();
  const { id, format } = template;
  const mayWrite = may('templates:write');
  const [entered, setEntered] = useState<Readonly<Record<string, string>>>({});
  const isVisual = format === 'mjml';
  const [chosen, setPane] = useState<Pane>(isVisual ? 'visual' : 'source');
  // A long message has hundreds of rows, which are rendered behind the answer to the click.
  const pane = usePainted(chosen, true) ?? chosen;
  const change = useChange('PATCH /templates/{id}');
  const { refetch } = useRead('GET /templates/{id}', { path: { id } });
  const newest = useRead(
    'GET /templates/{id}/versions',
    { path: { id }, query: { limit: 1 } },
    { enabled: false },
  );
  const editing = useEditing<Template, Draft>({
    place: `templates/${id}`,
    current: template,
    labels: LABELS,
    read: draftOf,
    write: (changed, ifUpdatedAt, values) =>
      change.mutateAsync({
        path: { id },
        body: { ...changesOf(Object.keys(changed), values, template), ifUpdatedAt },
      }),
    reread: async () => (await refetch({ throwOnError: true })).data ?? template,
    show: (name, value) =>
      name === 'variables'
        ? variablesText(value)
        : name === 'translations'
          ? JSON.stringify(value, null, 2)
          : String(value),
  });
  const { valuesNow, set, isChanged, refused } = editing;
  const name = useValue(editing, 'name');
  const variables = useValue(editing, 'variables');
  /** The draft version and its content. */
  const aside = useRef<{ readonly version: number; readonly draft: Draft } | null>(null);
  // A check of a campaign leads here in the language that it looked at.
  const search = useSearch();
  const [asked, setLanguage] = useState(() => new URLSearchParams(search).get('language'));
  const language = useSelected(editing, (draft) => translationFor(draft, asked));
  const at = (member: string) =>
    language === null ? `/body/${member}` : `/body/translations/${language}/${member}`;
  const fields = useMergeFields(useMemo(() => fieldsOf(variables), [variables]));
  const lists = useMemo(() => listsOf(variables), [variables]);
  const preview = usePreview(editing, template, entered, language);
  const inserter = useRef<((text: string) => void) | null>(null);
  const line = useSourceLine(() => setPane('source'));
  const [isPicking, setPicking] = useState(false);
  const keptDesign = useKeptDesigns();
  const content = { editing, language };
  const problems = new Map(
    [...(refused?.details ?? []), ...preview.problems].map(({ path, message }) => [
      path.replace('/body/declared', '/body/variables').replace('/body/ownLanguage', '/body/language'),
      message,
    ]),
  );

  const save = async () => {
    if (mayWrite && (await editing.save())) toast('Saved and published');
  };
  // A draft builds on the newest version, which is not always the one that is sent: it says all of it.
  const keepAside = async (): Promise<number | null> => {
    const draft = valuesNow();
    if (aside.current?.draft === draft) return aside.current.version;
    const saved = await editing.saveAside(async (_, ifUpdatedAt, values) => {
      const [builtOn] = (await newest.refetch({ throwOnError: true })).data ?? [];
      const body = patchOf(values, template, builtOn?.languages);
      return change.mutateAsync({ path: { id }, body: { ...body, draft: true, ifUpdatedAt } });
    });
    if (saved) aside.current = { version: saved.version, draft };
    return saved?.version ?? null;
  };
  const keep = async () => {
    const version = await keepAside();
    if (version !== null) toast(`Saved as draft version ${version}. Publish it under Versions.`);
  };
  useKeys({ 'mod s': () => void save() });

  return (
    <Page
      title={name || 'Template'}
      back={{ to: '/templates', text: 'Templates' }}
      about={
        <span className="flex flex-wrap items-center gap-x-2">
          {template.kind !== 'template' && <span>{KINDS[template.kind].title}</span>}
          <span>Version {template.version}</span>
          <SaveState editing={editing} />
        </span>
      }
      actions={
        <>
          <TemplateActions
            template={template}
            values={valuesOf({ variables }, entered)}
            editing={editing}
            isChanged={isChanged}
            isSaving={editing.isSaving}
            toTest={() => (isChanged ? keepAside() : Promise.resolve(template.version))}
          />
          <ButtonLink to={`/templates/${id}/versions`}>Versions</ButtonLink>
          {mayWrite && (
            <>
              <Button busy={editing.isSaving} onClick={() => void keep()}>
                Save as draft
              </Button>
              <Button look="main" busy={editing.isSaving} title="Ctrl S, ⌘ S" onClick={() => void save()}>
                Save
              </Button>
            </>
          )}
        </>
      }
    >
      <EditingNotes editing={editing} />
      <div
        className={`grid grid-cols-1 items-start gap-5 ${pane === 'visual' ? 'xl:grid-cols-[minmax(0,11fr)_minmax(0,9fr)]' : 'xl:grid-cols-2'}`}
      >
        <section aria-label="Editor" className="card grid overflow-hidden">
          <LanguageSwitch editing={editing} shown={language} isReadOnly={!mayWrite} onShow={setLanguage} />
          {template.kind === 'template' && (
            <div className="grid gap-2 border-b border-edge p-3">
              <ContentLine
                {...content}
                member="subject"
                label="Subject"
                fields={fields}
                problem={problems.get(at('subject'))}
                isReadOnly={!mayWrite}
              />
              <ContentLine
                {...content}
                member="previewText"
                label="Preview text"
                fields={fields}
                problem={problems.get(at('previewText'))}
                isReadOnly={!mayWrite}
              />
            </div>
          )}
          <div className="flex flex-wrap items-center gap-2 border-b border-edge px-3 py-2">
            <Chips
              label="Edit"
              // Markdown generates its text part.
              options={{
                ...PANES,
                ...(isVisual && { source: 'Code' }),
                ...(!FORMATS[format].hasText && { text: undefined }),
              }}
              value={chosen}
              onChange={setPane}
            />
            {mayWrite && pane === 'source' && (
              <span className="ml-auto flex flex-wrap">
                <FieldMenu
                  groups={fields}
                  into="Source"
                  className="button button-quiet"
                  onPick={(liquid) => inserter.current?.(liquid)}
                />
                <Button look="quiet" onClick={() => setPicking(true)}>
                  {icons.Picture} Insert image
                </Button>
              </span>
            )}
          </div>
          {pane === 'visual' && !isVisual && <NotVisual format={format} onSource={() => setPane('source')} />}
          {pane === 'visual' && isVisual && (
            <Suspense fallback={<Skeleton className="h-136 w-full" />}>
              <ContentBlocks
                key={language}
                {...content}
                kept={keptDesign(language ?? '')}
                isReadOnly={!mayWrite}
                fields={fields}
                lists={lists}
                onCode={line.show}
              />
            </Suspense>
          )}
          <div className={`h-136 min-w-0 overflow-y-auto ${pane === 'visual' ? 'hidden' : ''}`}>
            {pane === 'source' && (
              <ContentCode
                key={language}
                {...content}
                member="source"
                label={`${FORMATS[format].name} source`}
                syntax={FORMATS[format].language}
                isReadOnly={!mayWrite}
                inserter={inserter}
                {...line.editor}
              />
            )}
            {pane === 'text' && (
              <ContentCode
                key={language}
                {...content}
                member="text"
                label="Text part"
                syntax="text"
                isReadOnly={!mayWrite}
              />
            )}
            {pane === 'variables' && (
              <Variables
                rows={variables}
                problems={problems}
                isReadOnly={!mayWrite}
                onChange={(rows) => set({ variables: rows })}
              />
            )}
            {pane === 'settings' && (
              <TemplateSettings
                template={template}
                editing={editing}
                problems={problems}
                isReadOnly={!mayWrite}
              />
            )}
          </div>
          <Problems
            problems={problems}
            message={refused && refused.details.length === 0 ? refused.message : null}
          />
        </section>
        <div className="grid gap-5">
          {template.kind !== 'template' && <UsedBy template={template} />}
          <Preview answer={preview} />
          <CheckPanel
            of="GET /templates/{id}/check"
            id={id}
            version={template.version}
            language={language}
            isChanged={isChanged}
            onLine={line.show}
            layerId={(index) => template.layers[index]?.templateId ?? null}
          />
          <Values
            rows={variables}
            missing={preview.data?.missingVariables ?? []}
            entered={entered}
            onChange={setEntered}
            onDeclare={mayWrite ? (row) => set({ variables: [...variables, row] }) : null}
          />
        </div>
      </div>
      {isPicking && (
        <Suspense>
          <PickImage
            format={format}
            onPick={(markup) => inserter.current?.(markup)}
            onClose={() => setPicking(false)}
          />
        </Suspense>
      )}
    </Page>
  );
}

/** Says why a template of another format is written as source. */
const NotVisual = (props: { readonly format: Template['format']; readonly onSource: () => void }) => (
  <div className="grid content-start justify-items-start gap-3 p-6">
    <p className="font-medium">{FORMATS[props.format].name} is edited as source.</p>
    <p className="text-dim">
      The visual editor writes MJML. This template would not be the same message in it, so it is not
      converted. For the visual editor, create a template in MJML, and copy the words into it. The preview
      beside this text shows the message as it is sent.
    </p>
    <span className="flex flex-wrap gap-2">
      <Button onClick={props.onSource}>Edit source</Button>
      <ButtonLink to="/templates">Templates</ButtonLink>
    </span>
  </div>
);

/** Declared variables in a form that people can compare. */
const variablesText = (value: unknown): string =>
  (value as readonly VariableRow[])
    .map(
      ({ key, type, required, fallback }) =>
        `${key}: ${type}${required ? ', required' : ''}${fallback === '' ? '' : `, ${fallback} by default`}`,
    )
    .join('\n');

const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  ...DETAIL_NAMES,
  'subject',
  'previewText',
  'from',
  'replyTo',
  'layoutId',
  'language',
  'ownLanguage',
  'variables',
]);

/** True where the form shows the problem at its field. */
const isShownElsewhere = (path: string): boolean => SHOWN_ELSEWHERE.has(path.split('/')[2] ?? '');

/** The mistakes in the source, and all others that belong to no field. */
function Problems(props: {
  readonly problems: ReadonlyMap<string, string>;
  readonly message: string | null;
}) {
  const others = [...props.problems].flatMap(([path, text]) => (isShownElsewhere(path) ? [] : [text]));
  const all = props.message === null ? others : [props.message, ...others];
  return (
    <div role="alert" data-color="bad">
      {all.length > 0 && (
        <ul className="grid gap-1 border-t border-edge bg-(--state)/5 px-3 py-2">
          {all.map((text) => (
            <li key={text} className="state-text text-caption break-words">
              {text}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
