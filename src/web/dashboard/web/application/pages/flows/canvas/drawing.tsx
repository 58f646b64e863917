import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { graphProblems } from '../../../../../../../automation/flows/definition/graph.ts';
import type { Flow } from '../../../../../../client/operations.ts';
import { useQuestion } from '../../../api/queries.ts';
import { useViewer } from '../../../api/viewer.tsx';
import { EditingNotes, SaveState } from '../../../editing/editing-notes.tsx';
import { useKeys } from '../../../shell/keys.ts';
import { Button } from '../../../ui/button.tsx';
import { Skeleton } from '../../../ui/display/states.tsx';
import { Problem } from '../../../ui/forms/form.tsx';
import { toast } from '../../../ui/overlays/toast.tsx';
import { addStep, connect, removeStep, renameStep } from '../definition.ts';
import { type ProblemsByStep, problemsByStep, together } from '../forms/problems.ts';
import { StartPanel } from '../forms/start-panel.tsx';
import { StepPanel } from '../forms/step-panel.tsx';
import { wayCounts } from '../runs/stats.ts';
import type { FlowDraft } from '../use-flow-draft.ts';
import { useNames } from '../words.ts';
import type { CanvasEdits } from './flow-canvas.tsx';

const FlowCanvas = lazy(() => import('./flow-canvas.tsx'));

const NONE: ProblemsByStep = new Map();

/**
 * The problems of a flow: those of its structure at once, those of the templates and audiences it names after
 * a save.
 */
function useProblems(flow: Flow, { draft, saved, editing }: FlowDraft) {
  const { may } = useViewer();
  const { refused } = editing;
  // Pointers count the places of what was sent.
  const [sent, setSent] = useState({ refused, draft });
  if (sent.refused !== refused) setSent({ refused, draft });
  const validation = useQuestion(
    'POST /flows/{id}/validate',
    { path: { id: flow.id } },
    { enabled: may('campaigns:write') },
  );
  return useMemo(() => {
    const told = sent.refused && sent.draft === draft ? problemsByStep(draft, sent.refused.details) : NONE;
    const named = validation.data?.problems.filter(({ path }) =>
      /^\/(?:trigger|exitWhen)|\/config/.test(path),
    );
    const ofService = named ? problemsByStep(saved, named) : NONE;
    return together(together(told, problemsByStep(draft, graphProblems(draft))), ofService);
  }, [draft, saved, sent, validation.data]);
}

/** The canvas of a flow with the settings of the chosen step beside it, read-only for viewers. */
export default function Drawing({ flow, edited }: { readonly flow: Flow; readonly edited: FlowDraft }) {
  const { may } = useViewer();
  const mayWrite = may('campaigns:write');
  const { draft, isChanged, set, undo, canUndo, discard, editing: edit } = edited;
  const [chosen, setChosen] = useState<string | null>(null);
  const problems = useProblems(flow, edited);
  const names = useNames();
  const frame = useRef<HTMLDivElement>(null);
  const step = draft.steps.find(({ key }) => key === chosen) ?? null;
  const count = [...problems.values()].reduce((sum, each) => sum + each.length, 0);
  const isAsWasRun = !isChanged && flow.publishedVersion === flow.version;

  const save = async () => {
    if (!mayWrite || !isChanged || !(await edit.save())) return;
    toast(
      flow.publishedVersion === null
        ? 'Saved'
        : 'Saved as a draft beside the running version. Activate it to replace that version.',
    );
  };
  const { refused } = edit;
  const focusCard = (key: string) =>
    frame.current?.querySelector<HTMLElement>(`[data-step="${key}"]`)?.focus();
  const focusPanel = () => {
    const panel = frame.current?.querySelector<HTMLElement>('[data-panel]');
    panel?.querySelector<HTMLElement>('select, input, textarea')?.focus({ preventScroll: true });
    if (!matchMedia('(min-width: 1024px)').matches) panel?.scrollIntoView({ block: 'nearest' });
  };
  const openPanel = (key: string) => {
    // Its first field gets the focus within the event: a later frame would take it from where a member has
    // gone meanwhile.
    flushSync(() => setChosen(key));
    focusPanel();
  };
  const close = () => {
    focusCard(chosen === '' ? '*' : (chosen ?? '*'));
    setChosen(null);
  };
  const remove = (key: string) => {
    set(removeStep(draft, key));
    if (chosen === key) setChosen(null);
    focusCard('*');
    toast(`Step “${key}” removed`, async () => set(draft));
  };
  const editing: CanvasEdits = {
    onAdd: (way, type) => {
      const { definition, key } = addStep(draft, type, way);
      set(definition);
      setChosen(key);
      // The menu gives the focus back to its button first, and a member may have moved it on by then.
      requestAnimationFrame(() => {
        const at = document.activeElement;
        if (at === null || at === document.body || at.matches('[aria-haspopup="menu"], [role^="menu"]'))
          focusPanel();
      });
    },
    onConnect: (way, to) => set(connect(draft, way, to)),
    onRemove: remove,
  };
  useKeys({ 'mod s': () => void save() });
  const panel = {
    definition: draft,
    names,
    problems: problems.get(chosen ?? '') ?? [],
    isReadOnly: !mayWrite,
    onChange: set,
    onClose: close,
  };
  return (
    <div ref={frame} className="grid gap-4">
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-2">
        <p role="status" data-color={count === 0 ? 'good' : 'bad'} className="state-text mr-auto font-medium">
          {count === 0
            ? mayWrite && !isChanged && 'Ready to activate'
            : `${count} ${count === 1 ? 'problem prevents' : 'problems prevent'} activation.`}
        </p>
        {mayWrite && (
          <>
            <SaveState editing={edit} />
            {canUndo && (
              <Button look="quiet" title="Ctrl Z, ⌘ Z" onClick={undo}>
                Undo
              </Button>
            )}
            {isChanged && <Button onClick={discard}>Discard changes</Button>}
            <Button
              look={isChanged ? 'main' : 'plain'}
              aria-disabled={!isChanged}
              busy={edit.isSaving}
              title="Ctrl S, ⌘ S"
              onClick={() => void save()}
            >
              Save
            </Button>
          </>
        )}
      </div>
      <EditingNotes editing={edit} />
      {refused && (
        <Problem>
          {refused.details.length === 0 ? refused.message : 'Not saved: some steps are incomplete.'}
        </Problem>
      )}
      <div
        className={`grid grid-cols-1 items-start gap-4 ${chosen === null ? '' : 'lg:grid-cols-[minmax(0,1fr)_22rem]'}`}
      >
        <section
          aria-label="Canvas"
          className="card overflow-hidden lg:sticky lg:top-4"
          onKeyDown={(event) => {
            if (event.key === 'z' && (event.ctrlKey || event.metaKey) && mayWrite) undo();
          }}
        >
          <Suspense fallback={<Skeleton className="h-[70dvh] min-h-104 w-full" />}>
            <FlowCanvas
              label={`Canvas of ${flow.name}`}
              definition={draft}
              names={names}
              problems={problems}
              chosen={chosen}
              onChoose={openPanel}
              {...(mayWrite && { editing })}
              {...(isAsWasRun && flow.stats && { counts: wayCounts(draft, flow.stats) })}
              className="h-[70dvh] min-h-104"
            />
          </Suspense>
        </section>
        {chosen === '' && <StartPanel key={edit.round} {...panel} />}
        {step && (
          <StepPanel
            key={`${step.key} ${edit.round}`}
            {...panel}
            step={step}
            onRename={(key) => {
              set(renameStep(draft, step.key, key));
              setChosen(key);
            }}
            onRemove={() => remove(step.key)}
          />
        )}
      </div>
    </div>
  );
}
