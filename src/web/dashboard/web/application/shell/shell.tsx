import { memo, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { ENVIRONMENTS } from '../addresses.ts';
import { useViewer } from '../api/viewer.tsx';
import { leaving, useIsAsked } from '../editing/leaving.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { codeOf } from '../ui/code.ts';
import { icons, Mark } from '../ui/icons.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { Toasts } from '../ui/overlays/toast.tsx';
import { AccountMenu } from './account-menu.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { useKeys } from './keys.ts';
import { Navigation, pageNameOf, useOpenPages } from './navigation.tsx';
import { LoadingPage } from './open-page.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { PlaceProvider, useShownPlace } from './shown-place.tsx';
import { applyNextTheme } from './theme.ts';
import { SetUpSending, useLiveEmail } from './way-out.tsx';
import { WorkspaceMenu } from './workspace-menu.tsx';

const palette = codeOf(() => import('./palette.tsx'));

/** The frame of every page: workspace, environment, navigation and keyboard shortcuts. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { environment, session, workspace } = useViewer();
  const [path, navigate] = useLocation();
  const shown = useShownPlace();
  const [opened, setOpened] = useState<'palette' | 'shortcuts' | null>(null);
  const close = useCallback(() => setOpened(null), []);
  const showShortcuts = useCallback(() => setOpened('shortcuts'), []);
  // Rendered before the next key, which goes into its field and is no shortcut of the page.
  const search = useCallback(() => {
    if (palette.module) setOpened('palette');
    else palette.whenLoaded(() => setOpened('palette'), setOpened);
  }, []);
  const isMember = session !== null;
  useEffect(() => {
    if (!isMember) return;
    const idle = setTimeout(() => void palette.load(), 1_000);
    return () => clearTimeout(idle);
  }, [isMember]);
  const openPages = useOpenPages();
  useKeys({
    ...(session && { 'mod k': opened === 'palette' ? close : search }),
    t: applyNextTheme,
    '?': showShortcuts,
    '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
    c: () => document.querySelector<HTMLElement>('[data-create]')?.click(),
    ...Object.fromEntries(
      openPages.flatMap(({ key, name }) => (key ? [[`g ${key}`, () => navigate(`/${name}`)]] : [])),
    ),
  });
  const isWide = openPages.some(
    ({ name, isWide }) => isWide === true && name === pageNameOf(shown?.path ?? path),
  );
  return (
    <div
      data-environment={environment}
      data-color={ENVIRONMENTS[environment].color}
      className="min-h-full lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]"
    >
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:rounded-md focus:bg-sheet focus:p-3"
      >
        Skip to content
      </a>
      <aside className="hidden border-r border-edge bg-sunk lg:block">
        <div className="sticky top-0 flex h-dvh flex-col">
          <SideBar onSearch={search} />
        </div>
      </aside>
      <div className={isWide ? 'flex min-w-0 flex-col lg:h-dvh' : 'min-w-0'}>
        <MobileBar key={path} onSearch={search} />
        <EnvironmentBand>
          {workspace.archived && ' This workspace is archived. It is read-only.'}
          {session?.member.needsSecondFactor &&
            ' Your role requires a second factor. Set one up under Your account; until then your access is read-only.'}
        </EnvironmentBand>
        <main
          id="content"
          tabIndex={-1}
          data-leaving={shown !== null && shown.path !== path ? '' : undefined}
          className={
            isWide
              ? 'flex min-h-0 flex-1 flex-col outline-none'
              : 'mx-auto grid w-full max-w-6xl grid-cols-[minmax(0,1fr)] gap-5 px-4 py-6 outline-none sm:px-8 sm:py-8'
          }
        >
          {shown === null ? <LoadingPage /> : <PlaceProvider place={shown}>{children}</PlaceProvider>}
          <LeaveDialog />
        </main>
      </div>
      <Toasts />
      {opened === 'shortcuts' && <Shortcuts onClose={close} />}
      {opened === 'palette' && palette.module && (
        <palette.module.default onClose={close} onShortcuts={showShortcuts} />
      )}
    </div>
  );
}

/** The fate of email in this environment, above every page. */
function EnvironmentBand({ children }: { readonly children: ReactNode }) {
  const { environment, session } = useViewer();
  if (environment === 'live')
    return session ? (
      <LiveBand>{children}</LiveBand>
    ) : (
      <p role="status" className="environment-band">
        Live environment.
      </p>
    );
  return (
    <p role="status" className="environment-band">
      Test environment: no email leaves this service.{children}
    </p>
  );
}

function LiveBand({ children }: { readonly children: ReactNode }) {
  const { isDelivered, sentence } = useLiveEmail();
  return (
    <p role="status" data-color={isDelivered ? 'good' : 'waiting'} className="environment-band">
      Live environment. {sentence} {!isDelivered && <SetUpSending />}
      {children}
    </p>
  );
}

/** Asks before something is left that is not saved. */
const LeaveDialog = () =>
  useIsAsked() && (
    <Dialog title="You have unsaved changes" onClose={leaving.stay}>
      <p className="text-dim">If you leave now, your changes are lost.</p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="danger" onClick={leaving.discard}>
          Discard changes
        </Button>
        <Button look="main" data-safe onClick={leaving.stay}>
          Keep editing
        </Button>
      </div>
    </Dialog>
  );

/** The bar beside the page. Another page redraws only its navigation. */
const SideBar = memo(({ onSearch }: { readonly onSearch: () => void }) => (
  <>
    {useViewer().session ? <MemberHead onSearch={onSearch} /> : <GuestHead />}
    <Navigation />
    <div className="mt-auto border-t border-edge p-2">
      <AccountMenu />
    </div>
  </>
));

/** The workspace of a guest, and its one environment. */
function GuestHead() {
  const { workspace, environment } = useViewer();
  return (
    <div className="flex min-h-10 items-center gap-2.5 px-4.5 pt-3 pb-2">
      <Mark className="size-7 shrink-0" />
      <span className="min-w-0 flex-1 truncate font-semibold">{workspace.name}</span>
      <span data-color={ENVIRONMENTS[environment].color} className="badge">
        {ENVIRONMENTS[environment].name}
      </span>
    </div>
  );
}

/** The workspace and the environment of a member, and the search. */
const MemberHead = ({ onSearch }: { readonly onSearch: () => void }) => (
  <div className="grid gap-2 px-3 pt-3 pb-2">
    <WorkspaceMenu />
    <EnvironmentSwitch />
    <button
      type="button"
      onClick={onSearch}
      className="flex min-h-9 items-center gap-2 rounded-lg border border-edge bg-sheet px-2.5 text-dim hover:border-edge-strong"
    >
      <span className="[&>svg]:size-3.5">{icons.Search}</span>
      Search
      <kbd className="kbd ml-auto">{/Mac|iPhone/.test(navigator.platform) ? '⌘' : 'Ctrl'} K</kbd>
    </button>
  </div>
);

/** The bar on top of narrow screens. Another page closes its navigation. */
function MobileBar({ onSearch }: { readonly onSearch: () => void }) {
  const { session, workspace, environment } = useViewer();
  const drawer = useRef<HTMLDialogElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isOpen) drawer.current?.showModal();
  }, [isOpen]);
  return (
    <header className="sticky top-0 z-20 flex items-center gap-2 border-b border-edge bg-sheet px-3 py-2 lg:hidden">
      <IconButton label="Navigation" onClick={() => setOpen(true)} className="size-10">
        {icons.Menu}
      </IconButton>
      <p className="min-w-0 flex-1 truncate font-semibold">{workspace.name}</p>
      <span className="badge">{ENVIRONMENTS[environment].name}</span>
      {session && (
        <IconButton label="Search" onClick={onSearch} className="size-10">
          {icons.Search}
        </IconButton>
      )}
      {isOpen && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape
        <dialog
          ref={drawer}
          aria-label="Navigation"
          className="drawer"
          onClose={() => setOpen(false)}
          onClick={({ target, currentTarget }) => target === currentTarget && setOpen(false)}
        >
          <div className="flex h-full flex-col">
            <SideBar
              onSearch={() => {
                setOpen(false);
                onSearch();
              }}
            />
          </div>
        </dialog>
      )}
    </header>
  );
}
