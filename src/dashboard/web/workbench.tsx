import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Machine, Session } from '../../modules/inspector/model.ts';
import { Activity } from './activity.tsx';
import { api } from './api.ts';
import { Canvas } from './canvas.tsx';
import { TourContext, tourOf } from './highlight.ts';
import { useLife, useLive } from './hooks.ts';
import { LifePanel } from './life-panel.tsx';
import type { Live } from './live.ts';
import { usePlayback } from './playback.ts';
import { Scrubber } from './scrubber.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Rail } from './sidebar.tsx';
import { StatePanel } from './state-panel.tsx';
import { applyTheme, chosenTheme, type Theme } from './theme.ts';
import { TopBar } from './top-bar.tsx';
import { go, usePlace } from './url-state.ts';

interface WorkbenchProps {
  readonly session: Session;
  readonly machines: readonly Machine[];
  readonly live: Live;
  readonly onLeave: (why: string | null) => void;
}

const choose = (kind: string, state: string) => go({ kind, state });

/** Everything behind the door: machines at the left, the diagram, and at the right whatever was asked for. */
export function Workbench(props: WorkbenchProps) {
  const { machines, live, onLeave } = props;
  const place = usePlace();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [helps, setHelps] = useState(false);
  const line = useLive(live, (now) => now.line);
  const kind = machines.some((machine) => machine.kind === place.kind) ? place.kind : null;

  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    if (line === 'over') onLeave('The session is over. Sign in again to go on.');
  }, [line, onLeave]);

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
      else if (event.key === '0') go({ kind: null });
      else if (/^[1-9]$/.test(event.key)) go({ kind: machines[Number(event.key) - 1]?.kind ?? kind });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [machines, kind]);

  const leave = useCallback(() => void api.close().finally(() => onLeave(null)), [onLeave]);

  return (
    <div className="flex h-full flex-col">
      <TopBar
        {...props}
        line={line}
        kind={kind}
        theme={theme}
        onTheme={setTheme}
        onHelp={() => setHelps(true)}
        onSignOut={leave}
      />
      <div className="flex min-h-0 flex-1 flex-col md:flex-row">
        <Rail machines={machines} live={live} kind={kind} />
        {place.id !== null && kind !== null ? (
          <LifeView key={place.id} id={place.id} {...props} kind={kind} />
        ) : (
          <Overview {...props} kind={kind} state={place.state} />
        )}
      </div>
      {helps && <Shortcuts onClose={() => setHelps(false)} />}
    </div>
  );
}

const MAIN = 'relative min-h-[38vh] min-w-0 flex-1';

function Overview({
  machines,
  live,
  kind,
  state,
}: WorkbenchProps & { readonly kind: string | null; readonly state: string | null }) {
  const machine = machines.find((one) => one.kind === kind) ?? null;
  const shown = useMemo(() => (machine ? [machine] : machines), [machine, machines]);
  const chosen = useMemo(() => ({ kind, state }), [kind, state]);
  return (
    <>
      <main className={MAIN} aria-label={machine ? `The machine ${kind}` : 'All machines'}>
        <Canvas machines={shown} live={live} chosen={chosen} onChoose={choose} />
      </main>
      {machine && state !== null ? (
        <StatePanel key={`${kind} ${state}`} machine={machine} state={state} live={live} />
      ) : (
        <Activity machines={machines} live={live} kind={kind} />
      )}
    </>
  );
}

/** One actor: its way on the diagram, its life beside it, and a scrubber beneath. */
function LifeView({
  id,
  machines,
  live,
  kind,
}: WorkbenchProps & { readonly id: string; readonly kind: string }) {
  const asked = useLife(live, id);
  const life = asked.value;
  const machine = machines.find((one) => one.kind === kind) as Machine;
  const playback = usePlayback(life?.steps ?? []);
  const shown = useMemo(() => [machine], [machine]);
  const chosen = useMemo(() => ({ kind, state: null }), [kind]);
  const tour = useMemo(
    () => (life && life.steps.length > 0 ? tourOf(machine.drawing, life, playback.step) : null),
    [machine, life, playback.step],
  );
  return (
    <TourContext value={tour}>
      <main className={`${MAIN} flex flex-col`} aria-label={`The life of ${id}`}>
        <div className="relative min-h-0 flex-1">
          <Canvas machines={shown} live={live} chosen={chosen} onChoose={choose} />
        </div>
        {life && life.steps.length > 0 && <Scrubber steps={life.steps} playback={playback} />}
      </main>
      <LifePanel id={id} machine={machine} asked={asked} playback={playback} />
    </TourContext>
  );
}
