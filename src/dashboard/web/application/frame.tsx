import { type ReactNode, useState } from 'react';
import { Leave, Mark, Moon, Sun, System } from '../icons.tsx';
import { applyTheme, chosenTheme, type Theme } from '../theme.ts';
import type { Environment, Session } from './requests.ts';

const THEMES = { system: System, light: Sun, dark: Moon } as const;
const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const satisfies Record<Theme, Theme>;

/** The words and the tint of an environment, which nobody may take for the other. */
const ENVIRONMENTS = {
  test: { name: 'Test', color: 'waiting', about: 'Test environment: nothing leaves this service.' },
  live: { name: 'Live', color: 'bad', about: 'Live environment: email goes to real people.' },
} as const;

/** What stands around every page: workspace and plan, the environment, theme and sign-out. */
export function Frame(props: {
  readonly session: Session;
  readonly environment: Environment;
  readonly onEnvironment: (environment: Environment) => void;
  readonly onSignOut: () => void;
  readonly children: ReactNode;
}) {
  const { session, environment } = props;
  const [theme, setTheme] = useState(chosenTheme);
  const ThemeIcon = THEMES[theme];
  const changeTheme = (next: Theme) => {
    applyTheme(next);
    setTheme(next);
  };
  const { color, about } = ENVIRONMENTS[environment];
  return (
    <div className="min-h-full">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:bg-sheet focus:p-3">
        Skip to the content
      </a>
      <header className="border-b border-edge bg-sheet">
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2.5">
          <Mark className="size-7" />
          <p className="min-w-0 flex-1 leading-tight">
            <span className="block truncate font-semibold">{session.workspace.name}</span>
            <span className="block truncate text-[12px] text-dim">
              Plan {session.plan} · {session.account.email}, {session.member.role}
            </span>
          </p>
          <div className="flex items-center gap-1">
            <Tool label={`Theme: ${theme}`} onClick={() => changeTheme(NEXT[theme])}>
              <ThemeIcon />
            </Tool>
            <Tool label="Sign out" onClick={props.onSignOut}>
              <Leave />
            </Tool>
          </div>
        </div>
      </header>
      <section
        aria-label="Environment"
        data-environment={environment}
        data-color={color}
        className="sticky top-0 z-10 border-b-2 border-(--state) bg-sheet"
      >
        <div className="bg-(--state)/10">
          <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-4 gap-y-1.5 px-4 py-2">
            <Switch {...props} />
            <p role="status" className="state-text font-medium">
              {about}
            </p>
          </div>
        </div>
      </section>
      <main id="content" tabIndex={-1} className="mx-auto grid max-w-5xl gap-6 px-4 py-6 outline-none">
        {props.children}
      </main>
    </div>
  );
}

function Switch(props: {
  readonly environment: Environment;
  readonly onEnvironment: (environment: Environment) => void;
}) {
  return (
    <fieldset className="flex rounded-lg border border-edge-strong bg-sheet p-0.5">
      <legend className="sr-only">Environment</legend>
      {(['test', 'live'] as const).map((each) => (
        <label
          key={each}
          data-color={ENVIRONMENTS[each].color}
          className="relative cursor-pointer rounded-md px-3 py-1 font-semibold text-dim has-checked:bg-(--state) has-checked:text-page has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="environment"
            className="sr-only"
            checked={props.environment === each}
            onChange={() => props.onEnvironment(each)}
          />
          {ENVIRONMENTS[each].name}
        </label>
      ))}
    </fieldset>
  );
}

const Tool = (props: {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}) => (
  <button
    type="button"
    aria-label={props.label}
    title={props.label}
    onClick={props.onClick}
    className="grid size-9 place-items-center rounded-lg text-dim hover:bg-hover hover:text-ink"
  >
    {props.children}
  </button>
);
