import { useCallback, useEffect, useState } from 'react';
import type { Machine, Session } from '../../live/model.ts';
import { outside } from './api.ts';
import { useLive } from './hooks.ts';
import type { LiveConnection } from './live.ts';
import { Views } from './machine-views.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Sidebar } from './sidebar.tsx';
import { applyTheme, chosenTheme, type Theme } from './theme.ts';
import { TopBar } from './top-bar.tsx';
import { useMachineKeys, useShownKind } from './url-state.ts';

interface WorkbenchProps {
  readonly session: Session;
  readonly machines: readonly Machine[];
  readonly live: LiveConnection;
  readonly onLeave: (why: string | null) => void;
}

const AFTER = { system: 'light', light: 'dark', dark: 'system' } as const;

/**
 * The live view without the application: machines on the left, then the states, and on the right the
 * activity, a list or one actor.
 */
export function Workbench(props: WorkbenchProps) {
  const { machines, live, onLeave } = props;
  const kind = useShownKind(machines);
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [helps, setHelps] = useState(false);
  const connection = useLive(live, (now) => now.connection);

  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    if (connection === 'over') onLeave('The session has ended. Sign in again to continue.');
  }, [connection, onLeave]);
  useMachineKeys(machines, {
    '/': () => document.getElementById('find')?.focus(),
    '?': () => setHelps((now) => !now),
    t: () => setTheme((now) => AFTER[now]),
  });

  const leave = useCallback(() => void outside.close().finally(() => onLeave(null)), [onLeave]);

  return (
    // The panels scroll, not the page.
    <div className="flex h-dvh flex-col overflow-hidden">
      <title>State machines · Posthorn</title>
      <TopBar
        {...props}
        connection={connection}
        kind={kind}
        theme={theme}
        onTheme={setTheme}
        onHelp={() => setHelps(true)}
        onSignOut={leave}
      />
      <main className="flex min-h-0 flex-1 flex-col md:flex-row">
        <Sidebar machines={machines} live={live} kind={kind} />
        <Views machines={machines} live={live} kind={kind} />
      </main>
      {helps && <Shortcuts onClose={() => setHelps(false)} />}
    </div>
  );
}
