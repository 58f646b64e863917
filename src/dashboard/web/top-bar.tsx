import { type FormEvent, type ReactNode, useState } from 'react';
import type { Machine, Session } from '../../modules/inspector/model.ts';
import { Keys, Leave, Mark, Moon, Search, Sun, System } from './icons.tsx';
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

const CONNECTIONS: Record<Connection, { readonly text: string; readonly color: string }> = {
  connecting: { text: 'Connecting', color: 'waiting' },
  live: { text: 'Live', color: 'good' },
  lost: { text: 'Reconnecting', color: 'bad' },
  over: { text: 'Ended', color: 'bad' },
};

const THEMES = { system: System, light: Sun, dark: Moon } as const;
const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;

/** The workspace and environment, the search, and whether the page hears of what happens. */
export function TopBar({ session, machines, connection, theme, onTheme, onHelp, onSignOut }: TopBarProps) {
  const { text, color } = CONNECTIONS[connection];
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
        title={session.livemode ? 'Real email' : 'Nothing leaves the service'}
        data-environment={session.livemode ? 'live' : 'test'}
        data-color={session.livemode ? 'bad' : 'waiting'}
        className="state-text rounded-md border border-(--state)/50 px-1.5 py-px font-mono text-[11px] font-semibold"
      >
        {session.livemode ? 'live' : 'test'}
      </span>
      <span className="hidden truncate text-dim lg:block">{session.workspaceName}</span>
      <Find machines={machines} />
      <div className="ml-auto flex items-center gap-1">
        <span
          role="status"
          data-color={color}
          className="state-text mr-1.5 flex items-center gap-1.5 text-[12px] font-medium"
        >
          <span
            className={`size-2 rounded-full bg-(--state) ${connection === 'live' ? '' : 'animate-pulse'}`}
          />
          <span className="hidden sm:inline">{text}</span>
        </span>
        <Tool label="Keyboard shortcuts (?)" className="hidden md:grid" onClick={onHelp}>
          <Keys />
        </Tool>
        <Tool label={`Theme: ${theme} (t)`} onClick={() => onTheme(NEXT[theme])}>
          <ThemeIcon />
        </Tool>
        <Tool label="End the session" onClick={onSignOut}>
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

/** A whole id opens its actor; the beginning of one lists those that begin so. */
function Find({ machines }: { readonly machines: readonly Machine[] }) {
  const [problem, setProblem] = useState<string | null>(null);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('id') ?? '')
      .trim()
      .toLowerCase();
    const machine = machines.find(({ idPrefix }) => text.startsWith(`${idPrefix}_`));
    if (!machine) {
      const prefixes = machines.map(({ idPrefix }) => `${idPrefix}_`).join(', ');
      return setProblem(`An id begins with ${prefixes}.`);
    }
    setProblem(null);
    (document.activeElement as HTMLElement | null)?.blur();
    navigate({
      kind: machine.kind,
      ...(text.length === machine.idPrefix.length + 25 ? { id: text } : { state: `id:${text}` }),
    });
  }
  return (
    <search className="relative ml-1 max-w-72 min-w-0 flex-1">
      <form onSubmit={submit}>
        <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" />
        <input
          id="find"
          name="id"
          aria-label="Find an actor by its id"
          autoComplete="off"
          spellCheck={false}
          placeholder="Find by id"
          onChange={() => setProblem(null)}
          className="h-8 w-full rounded-lg border border-edge bg-page pr-8 pl-8 font-mono text-[12px] placeholder:font-sans placeholder:text-faint"
        />
        <kbd className="pointer-events-none absolute top-1.5 right-2 hidden rounded border border-edge px-1.5 text-[11px] text-faint md:block">
          /
        </kbd>
        {problem !== null && (
          <p
            role="alert"
            className="rise absolute top-10 left-0 z-20 rounded-lg border border-edge bg-raised px-3 py-2 text-[12px] shadow-pop"
          >
            {problem}
          </p>
        )}
      </form>
    </search>
  );
}
