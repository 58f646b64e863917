import { useState } from 'react';
import type { Template } from '../../api/operations.ts';
import { useChange } from '../../api/queries.ts';
import { Refused } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Chips } from '../../ui/chips.tsx';
import CodeEditor from '../../ui/code-editor.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { TemplateActions } from './actions.tsx';
import { bodyOf, valuesOf } from './draft.ts';
import { Preview, usePreview } from './preview.tsx';
import { Line, TemplateSettings } from './settings.tsx';
import { useDraft } from './use-draft.ts';
import { Values } from './values.tsx';
import { Variables } from './variables.tsx';

const PANES = { source: 'Source', text: 'Text part', variables: 'Variables', settings: 'Settings' } as const;
type Pane = keyof typeof PANES;

/** Edits a template beside what it becomes. Viewers see both, and change nothing. */
export default function TemplateEditor({ template }: { readonly template: Template }) {
  const { may } = useViewer();
  const { id, format } = template;
  const mayWrite = may('templates:write');
  const { draft, set, isChanged, base, round, keep } = useDraft(template);
  const [entered, setEntered] = useState<Readonly<Record<string, string>>>({});
  const [pane, setPane] = useState<Pane>('source');
  const [refused, setRefused] = useState<Refused | null>(null);
  const change = useChange('PATCH /templates/{id}');
  const preview = usePreview(draft, format, valuesOf(draft, entered));
  const problems = new Map(
    [...(refused?.details ?? []), ...preview.problems].map(({ path, message }) => [
      path.replace('/body/declared', '/body/variables'),
      message,
    ]),
  );

  const save = async (isDraft: boolean) => {
    if (!mayWrite || change.isPending) return;
    setRefused(null);
    try {
      const { version } = await change.mutateAsync({
        path: { id },
        // A draft builds on the newest version, which is not always the one that is sent.
        body: { ...bodyOf(draft, format), ...(isDraft ? { draft: true } : { ifVersion: base }) },
      });
      keep(draft, isDraft ? null : version);
      toast(
        isDraft
          ? `Kept aside as version ${version}. Publish it under Versions.`
          : 'It is saved, and sent from now on.',
      );
    } catch (error) {
      if (error instanceof Refused) setRefused(error);
      else throw error;
    }
  };
  useKeys({ 'mod s': () => void save(false) });

  return (
    <Page
      title={draft.name || 'Template'}
      back={{ to: '/templates', text: 'Templates' }}
      about={
        <span className="flex flex-wrap items-center gap-x-2">
          Version {template.version}
          {isChanged && <span className="text-faint">· not saved yet</span>}
        </span>
      }
      actions={
        <>
          <TemplateActions template={template} values={valuesOf(draft, entered)} isChanged={isChanged} />
          <ButtonLink to={`/templates/${id}/versions`}>Versions</ButtonLink>
          {mayWrite && (
            <>
              <Button busy={change.isPending} onClick={() => void save(true)}>
                Keep as draft
              </Button>
              <Button
                look="main"
                busy={change.isPending}
                title="Ctrl S, ⌘ S"
                onClick={() => void save(false)}
              >
                Save
              </Button>
            </>
          )}
        </>
      }
    >
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <section aria-label="Editor" className="card grid overflow-hidden">
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
          <div className="border-b border-edge px-3 py-2">
            <Chips
              label="Edit"
              // Markdown makes its own text part.
              options={format === 'html' ? PANES : { ...PANES, text: undefined }}
              value={pane}
              onChange={setPane}
            />
          </div>
          <div className="h-136 min-w-0 overflow-y-auto">
            {pane === 'source' && (
              <CodeEditor
                key={round}
                label={format === 'html' ? 'HTML source' : 'Markdown source'}
                language={format === 'html' ? 'html' : 'markdown'}
                value={draft.source}
                isReadOnly={!mayWrite}
                onChange={(source) => set({ source })}
              />
            )}
            {pane === 'text' && (
              <CodeEditor
                key={round}
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
              <TemplateSettings draft={draft} problems={problems} isReadOnly={!mayWrite} onChange={set} />
            )}
          </div>
          <Problems
            problems={problems}
            message={refused && refused.details.length === 0 ? refused.message : null}
          />
        </section>
        <div className="grid gap-5">
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
    </Page>
  );
}

const SHOWN_ELSEWHERE = /^\/body\/(?:subject|previewText|name|alias|from|replyTo|variables)/;

/** What is wrong with the source, and everything that belongs to no field. */
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
