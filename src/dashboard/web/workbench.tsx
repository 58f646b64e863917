import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Machine, Session } from '../../modules/inspector/model.ts';
import { Activity } from './activity.tsx';
import { api } from './api.ts';
import { Board, ViewHeader } from './board.tsx';
import { Canvas } from './canvas.tsx';
import { countText, titleOf } from './format.ts';
import { HighlightContext, highlightOf } from './highlight.ts';
import { useIsWide, useLife, useLive } from './hooks.ts';
import { LifePanel } from './life-panel.tsx';
import type { Live } from './live.ts';
import { usePlayback } from './playback.ts';
import { Scrubber } from './scrubber.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Sidebar } from './sidebar.tsx';
import { StatePanel } from './state-panel.tsx';
import { applyTheme, chosenTheme, type Theme } from './theme.ts';
import { TopBar } from './top-bar.tsx';
import { navigate, useUrlState } from './url-state.ts';

interface WorkbenchProps {
  readonly session: Session;
  readonly machines: readonly Machine[];
  readonly live: Live;
  readonly onLeave: (why: string | null) => void;
}

const choose = (kind: string, state: string) => navigate({ kind, state });

/** The page of a session: machines at the left, then the states, and at the right the activity, a list or one actor. */
export function Workbench(props: WorkbenchProps) {
  const { machines, live, onLeave } = props;
  const shown = useUrlState();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [helps, setHelps] = useState(false);
  const connection = useLive(live, (now) => now.connection);
  const kind = machines.some((machine) => machine.kind === shown.kind) ? shown.kind : null;

  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    if (connection === 'over') onLeave('The session is over. Sign in again to go on.');
  }, [connection, onLeave]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      const isTyping = event.target instanceof HTMLInputElement;
      if (isTyping) return;
      if (event.key === '/') {
        event.preventDefault();
        document.getElementById('find')?.focus();
      } else if (event.key === '?') setHelps((now) => !now);
      else if (event.key === 't')
        setTheme((now) => (now === 'system' ? 'light' : now === 'light' ? 'dark' : 'system'));
      else if (event.key === '0') navigate({ kind: null });
      else if (/^[1-9]$/.test(event.key)) navigate({ kind: machines[Number(event.key) - 1]?.kind ?? kind });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [machines, kind]);

  const leave = useCallback(() => void api.close().finally(() => onLeave(null)), [onLeave]);

  return (
    <div className="flex h-full flex-col">
      <TopBar
        {...props}
        connection={connection}
        kind={kind}
        theme={theme}
        onTheme={setTheme}
        onHelp={() => setHelps(true)}
        onSignOut={leave}
      />
      <div className="flex min-h-0 flex-1 flex-col md:flex-row">
        <Sidebar machines={machines} live={live} kind={kind} />
        {shown.id !== null && kind !== null ? (
          <LifeView key={shown.id} id={shown.id} {...props} kind={kind} />
        ) : (
          <Overview {...props} kind={kind} state={shown.state} />
        )}
      </div>
      {helps && <Shortcuts onClose={() => setHelps(false)} />}
    </div>
  );
}

/** On a wide window the parts stand beside each other and scroll by themselves; else they follow in one column that scrolls. */
const COLUMN = 'scroll flex min-h-0 min-w-0 flex-1 flex-col lg:flex-row lg:overflow-hidden';
const MAIN = 'flex min-w-0 shrink-0 flex-col lg:min-h-0 lg:flex-1 lg:shrink';

function Overview({
  machines,
  live,
  kind,
  state,
}: WorkbenchProps & { readonly kind: string | null; readonly state: string | null }) {
  const isWide = useIsWide();
  const machine = machines.find((one) => one.kind === kind) ?? null;
  const shown = useMemo(() => (machine ? [machine] : machines), [machine, machines]);
  const chosen = useMemo(() => ({ kind, state }), [kind, state]);
  const total = useTotal(live, machine);
  return (
    <div className={COLUMN}>
      <main className={MAIN} aria-label={machine ? `The machine ${kind}` : 'All machines'}>
        <ViewHeader title={machine ? titleOf(machine.kind) : 'All machines'}>
          {machine ? total : 'Choose a state to see who is in it'}
        </ViewHeader>
        {machine && isWide && (
          <div className="relative min-h-0 flex-1">
            <Canvas machine={machine} live={live} chosen={chosen} onChoose={choose} />
          </div>
        )}
        {!(machine && isWide) && (isWide || state === null) && (
          <div className="scroll min-h-0 flex-1">
            <Board machines={shown} live={live} />
          </div>
        )}
      </main>
      {machine && state !== null ? (
        <StatePanel key={`${kind} ${state}`} machine={machine} state={state} live={live} />
      ) : (
        <Activity machines={machines} live={live} kind={kind} />
      )}
    </div>
  );
}

/** The number of actors of the machine, in words. */
function useTotal(live: Live, machine: Machine | null): string {
  const counts = useLive(live, (now) => (machine ? now.counts[machine.kind] : undefined));
  const states = Object.values(counts ?? {});
  const count = states.reduce((sum, one) => sum + one.count, 0);
  return `${countText({ count, exact: states.every(({ exact }) => exact) })} in all`;
}

/** The same object as long as it says the same: what is read again and has not changed must not be drawn anew. */
function useSteady<Value>(value: Value): Value {
  const kept = useRef(value);
  if (kept.current !== value && JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}

/** One actor: its path on the diagram, its history beside it, and a scrubber beneath. */
function LifeView({
  id,
  machines,
  live,
  kind,
}: WorkbenchProps & { readonly id: string; readonly kind: string }) {
  const isWide = useIsWide();
  const asked = useLife(live, id);
  const life = asked.value;
  const ofKind = machines.find((one) => one.kind === kind) as Machine;
  const machine = useSteady(life?.machine ?? ofKind);
  const playback = usePlayback(life?.steps ?? []);
  const chosen = useMemo(() => ({ kind, state: null }), [kind]);
  const highlight = useMemo(
    () => (life && life.steps.length > 0 ? highlightOf(machine.drawing, life, playback.step) : null),
    [machine, life, playback.step],
  );
  return (
    <HighlightContext value={highlight}>
      <div className={COLUMN}>
        <main className={MAIN} aria-label={`The life of ${id}`}>
          <ViewHeader title={titleOf(kind)}>{life?.title}</ViewHeader>
          {isWide && (
            <div className="relative min-h-0 flex-1">
              <Canvas machine={machine} live={live} chosen={chosen} onChoose={choose} />
            </div>
          )}
          {life && life.steps.length > 0 && <Scrubber steps={life.steps} playback={playback} />}
        </main>
        <LifePanel id={id} machine={machine} asked={asked} playback={playback} />
      </div>
    </HighlightContext>
  );
}
