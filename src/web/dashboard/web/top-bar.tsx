import type { ReactNode } from 'react';
import type { Machine, Session } from '../../live/model.ts';
import { ConnectionState } from './connection-state.tsx';
import { Find } from './find.tsx';
import { Keys, Leave, Mark, Moon, Sun, System } from './icons.tsx';
import type { Connection } from './live.ts';
import type { Theme } from './theme.ts';
import { navigate } from './url-state.ts';

interface TopBarProps {
  readonly session: Session;
  readonly machines: readonly Machine[];
  readonly kind: string | null;
  readonly connection: Connection;
  readonly theme: Theme;
  readonly onTheme: (theme: Theme) => void;
  readonly onHelp: () => void;
  readonly onSignOut: () => void;
}

const THEMES = { system: System, light: Sun, dark: Moon } as const;
const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;

/** The workspace and environment, the search, and the state of the connection. */
export function TopBar({ session, machines, connection, theme, onTheme, onHelp, onSignOut }: TopBarProps) {
  const ThemeIcon = THEMES[theme];
  return (
    <header className="z-10 flex h-13 shrink-0 items-center gap-3 border-b border-edge bg-sheet px-3 md:px-4">
      <button
        type="button"
        onClick={() => navigate({ kind: null })}
        className="flex items-center gap-2.5"
        aria-label="Posthorn: show all machines"
      >
        <Mark className="size-6.5" />
        <span className="hidden text-[14px] font-semibold tracking-tight sm:block">Posthorn</span>
      </button>
      <span
        title={session.livemode ? 'Real email' : 'No email leaves the service'}
        data-environment={session.livemode ? 'live' : 'test'}
        data-color={session.livemode ? 'bad' : 'waiting'}
        className="state-text rounded-md border border-(--state)/50 px-1.5 py-px font-mono text-[11px] font-semibold"
      >
        {session.livemode ? 'live' : 'test'}
      </span>
      <span className="hidden truncate text-dim lg:block">{session.workspaceName}</span>
      <Find machines={machines} />
      <div className="ml-auto flex items-center gap-1">
        <ConnectionState connection={connection} />
        <Tool label="Keyboard shortcuts (?)" className="hidden md:grid" onClick={onHelp}>
          <Keys />
        </Tool>
        <Tool label={`Theme: ${theme} (t)`} onClick={() => onTheme(NEXT[theme])}>
          <ThemeIcon />
        </Tool>
        <Tool label="End session" onClick={onSignOut}>
          <Leave />
        </Tool>
      </div>
    </header>
  );
}

function Tool(props: {
  readonly label: string;
  readonly className?: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={props.label}
      title={props.label}
      onClick={props.onClick}
      className={`size-8 place-items-center rounded-lg text-dim hover:bg-hover hover:text-ink ${props.className ?? 'grid'}`}
    >
      {props.children}
    </button>
  );
}
