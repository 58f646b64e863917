import { useLocation } from 'wouter';
import { useViewer } from '../api/viewer.tsx';
import { leaving } from '../editing/leaving.ts';
import { pages } from '../pages/pages.ts';
import { icons } from '../ui/icons.tsx';
import { Item, Menu, Separator } from '../ui/overlays/menu.tsx';
import { applyTheme, type Theme, useTheme } from './theme.ts';

const THEMES = { system: icons.System, light: icons.Sun, dark: icons.Moon } as const;
const THEME_NAMES = { system: 'System theme', light: 'Light theme', dark: 'Dark theme' } as const;

/** The account's pages, the theme and the sign-out. */
export function AccountMenu() {
  const { session, onSignOut } = useViewer();
  const theme = useTheme();
  const [, navigate] = useLocation();
  const name = session?.account.name ?? 'Guest';
  return (
    <Menu
      label="Account"
      className="flex min-h-11 w-full items-center gap-2.5 rounded-lg px-1.5 text-left hover:bg-hover"
      items={
        <>
          {session &&
            pages
              .filter(({ group, isHidden }) => group === 'workspace' && isHidden)
              .map(({ name, title, icon }) => (
                <Item key={name} onSelect={() => navigate(`/${name}`)}>
                  {icons[icon]} {title}
                </Item>
              ))}
          <Item onSelect={() => location.assign('/docs')}>{icons.Book} Documentation</Item>
          <Separator />
          {(Object.keys(THEMES) as Theme[]).map((each) => {
            return (
              <Item key={each} checked={theme === each} onSelect={() => applyTheme(each)}>
                {THEMES[each]} {THEME_NAMES[each]}
              </Item>
            );
          })}
          <Separator />
          <Item onSelect={() => leaving.ask(onSignOut)}>{icons.Leave} Sign out</Item>
        </>
      }
    >
      <span
        aria-hidden="true"
        className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-caption font-semibold text-accent uppercase"
      >
        {(name || (session?.account.email ?? '')).slice(0, 1)}
      </span>
      <span className="min-w-0 flex-1 leading-tight">
        <span className="sr-only">Account </span>
        <span className="block truncate font-medium">{name}</span>
        <span className="block truncate text-caption text-dim">
          {session?.member.role ?? 'API key or link'}
        </span>
      </span>
      <span className="text-faint">{icons.More}</span>
    </Menu>
  );
}
