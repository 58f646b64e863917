import { lazy, Suspense, useRef, useState } from 'react';
import type { Template } from '../../../../../client/operations.ts';
import { useChange, useRead } from '../../api/queries.ts';
import { useViewer } from '../../api/viewer.tsx';
import { EditingNotes, SaveState } from '../../editing/editing-notes.tsx';
import { useEditing } from '../../editing/use-editing.ts';
import { useKeys } from '../../shell/keys.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Chips } from '../../ui/forms/chips.tsx';
import CodeEditor from '../../ui/forms/code-editor.tsx';
import { icons } from '../../ui/icons.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Page } from '../../ui/page.tsx';
import { TemplateActions } from './actions.tsx';
import { bodyOf, changesOf, type Draft, draftOf, LABELS, type VariableRow, valuesOf } from './draft.ts';
import { FORMATS, KINDS } from './formats.ts';
import { Preview, usePreview } from './preview.tsx';
import { Line, TemplateSettings } from './settings.tsx';
import { UsedBy } from './used-by.tsx';
import { Values } from './values.tsx';
import { Variables } from './variables.tsx';

const PickImage = lazy(() => import('../images/pick-image.tsx'));

const PANES = { source: 'Source', text: 'Text part', variables: 'Variables', settings: 'Settings' } as const;
type Pane = keyof typeof PANES;

/** Edits a template beside its preview, read-only for viewers. */
export default function TemplateEditor({ template }: { readonly template: Template }) {
  const { may } = useViewer();
  const { id, format } = template;
  const mayWrite = may('templates:write');
  const [entered, setEntered] = useState<Readonly<Record<string, string>>>({});
  const [pane, setPane] = useState<Pane>('source');
  const change = useChange('PATCH /templates/{id}');
  const { refetch } = useRead('GET /templates/{id}', { path: { id } });
  const editing = useEditing<Template, Draft>({
    place: `templates/${id}`,
    current: template,
    labels: LABELS,
    read: draftOf,
    write: (changed, ifUpdatedAt, values) =>
      change.mutateAsync({
        path: { id },
        body: { ...changesOf(Object.keys(changed), values, format), ifUpdatedAt },
      }),
    reread: async () => (await refetch({ throwOnError: true })).data ?? template,
    show: (name, value) => (name === 'variables' ? variablesText(value) : String(value)),
  });
  const { values: draft, set, isChanged, refused } = editing;
  /** The draft version and its content. */
  const aside = useRef<{ readonly version: number; readonly draft: Draft } | null>(null);
  const preview = usePreview(draft, template, valuesOf(draft, entered));
  const inserter = useRef<((text: string) => void) | null>(null);
  const [isPicking, setPicking] = useState(false);
  const problems = new Map(
    [...(refused?.details ?? []), ...preview.problems].map(({ path, message }) => [
      path.replace('/body/declared', '/body/variables'),
      message,
    ]),
  );

  const save = async () => {
    if (mayWrite && (await editing.save())) toast('Saved and published');
  };
  // A draft builds on the newest version, which is not always the one that is sent: it says all of it.
  const keepAside = async (): Promise<number | null> => {
    if (aside.current?.draft === draft) return aside.current.version;
    const saved = await editing.saveAside((_, ifUpdatedAt, values) =>
      change.mutateAsync({ path: { id }, body: { ...bodyOf(values, format), draft: true, ifUpdatedAt } }),
    );
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
      title={draft.name || 'Template'}
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
            values={valuesOf(draft, entered)}
            draft={draft}
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
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <section aria-label="Editor" className="card grid overflow-hidden">
          {template.kind === 'template' && (
            <div className="grid gap-2 border-b border-edge p-3">
              <Line
                label="Subject"
                value={draft.subject}
                problem={problems.get('/body/subject')}
                isReadOnly={!mayWrite}
                onChange={(subject) => set({ subject })}
              />
              <Line
                label="Preview text"
                value={draft.previewText}
                problem={problems.get('/body/previewText')}
                isReadOnly={!mayWrite}
                onChange={(previewText) => set({ previewText })}
              />
            </div>
          )}
          <div className="flex flex-wrap items-center gap-2 border-b border-edge px-3 py-2">
            <Chips
              label="Edit"
              // Markdown generates its text part.
              options={FORMATS[format].hasText ? PANES : { ...PANES, text: undefined }}
              value={pane}
              onChange={setPane}
            />
            {mayWrite && pane === 'source' && (
              <Button look="quiet" onClick={() => setPicking(true)}>
                {icons.Picture} Insert image
              </Button>
            )}
          </div>
          <div className="h-136 min-w-0 overflow-y-auto">
            {pane === 'source' && (
              <CodeEditor
                label={`${FORMATS[format].name} source`}
                language={FORMATS[format].language}
                value={draft.source}
                isReadOnly={!mayWrite}
                onChange={(source) => set({ source })}
                inserter={inserter}
              />
            )}
            {pane === 'text' && (
              <CodeEditor
                label="Text part"
                language="text"
                value={draft.text}
                isReadOnly={!mayWrite}
                onChange={(text) => set({ text })}
              />
            )}
            {pane === 'variables' && (
              <Variables
                rows={draft.variables}
                problems={problems}
                isReadOnly={!mayWrite}
                onChange={(variables) => set({ variables })}
              />
            )}
            {pane === 'settings' && (
              <TemplateSettings
                template={template}
                draft={draft}
                problems={problems}
                isReadOnly={!mayWrite}
                onChange={set}
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
          <Values
            rows={draft.variables}
            missing={preview.data?.missingVariables ?? []}
            entered={entered}
            onChange={setEntered}
            onDeclare={mayWrite ? (row) => set({ variables: [...draft.variables, row] }) : null}
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

/** Declared variables in a form that people can compare. */
const variablesText = (value: unknown): string =>
  (value as readonly VariableRow[])
    .map(
      ({ key, type, required, fallback }) =>
        `${key}: ${type}${required ? ', required' : ''}${fallback === '' ? '' : `, ${fallback} by default`}`,
    )
    .join('\n');

const SHOWN_ELSEWHERE = /^\/body\/(?:subject|previewText|name|alias|from|replyTo|layoutId|variables)/;

/** The mistakes in the source, and all others that belong to no field. */
function Problems(props: {
  readonly problems: ReadonlyMap<string, string>;
  readonly message: string | null;
}) {
  const others = [...props.problems].flatMap(([path, text]) => (SHOWN_ELSEWHERE.test(path) ? [] : [text]));
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
