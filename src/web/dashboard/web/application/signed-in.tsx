import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { Redirect, Router, useLocation } from 'wouter';
import {
  baseOf,
  type Environment,
  readAddress,
  rememberEnvironment,
  rememberWorkspace,
  wholeAddress,
} from './addresses.ts';
import { Connection } from './api/connection.ts';
import { GUEST_API, type GuestSession, guestEntry } from './api/guest.ts';
import { machinesAt } from './api/machines/source.ts';
import { RequestError } from './api/requests.ts';
import { entry, type Session } from './api/session.ts';
import { type Viewer, ViewerProvider } from './api/viewer.tsx';
import { drafts } from './editing/drafts.ts';
import { ConnectionNote } from './shell/connection.tsx';
import { OpenPage } from './shell/open-page.tsx';
import { Shell } from './shell/shell.tsx';
import { toastProblem } from './ui/overlays/toast.tsx';

/** Answers are reused without a request for this time; a page that becomes visible again always sends one. */
const FRESH_MS = 2_000;
/** A service that restarts is asked again this often; what it refuses is not. */
const MOST_TRIES = 2;

const isWorthRepeating = (tries: number, error: Error): boolean =>
  tries < MOST_TRIES && error instanceof RequestError && (error.status === 0 || error.status >= 500);

type OnLeave = (why: 'signedOut' | 'sessionEnded') => void;

/**
 * The application of a member. The address names the workspace and the environment: `/app/ws_1/test/emails`.
 * One without a workspace, as in links of former versions, leads to the one that is open.
 */
export function SignedIn({ session, onLeave }: { readonly session: Session; readonly onLeave: OnLeave }) {
  const [path] = useLocation();
  const { workspaceId, environment } = readAddress(path);
  const viewer = useMemo(
    () => memberOf(session, environment ?? 'test', onLeave),
    [session, environment, onLeave],
  );
  const { id: account } = session.account;
  useEffect(() => void drafts.resume(account), [account]);
  const isElsewhere = workspaceId !== null && workspaceId !== session.workspace.id;
  // The data, the permissions and the clock of a page belong to one workspace.
  useEffect(() => {
    if (isElsewhere) location.reload();
  }, [isElsewhere]);
  if (isElsewhere) return null;
  if (workspaceId === null || environment === null)
    return <Redirect to={wholeAddress(path, session.workspace.id) + location.search} replace />;
  rememberWorkspace(workspaceId);
  rememberEnvironment(environment);
  return <Pages viewer={viewer} />;
}

/** The page of state machines for a guest, in the one environment of the key or link. */
export function GuestSignedIn({
  guest,
  onLeave,
}: {
  readonly guest: GuestSession;
  readonly onLeave: OnLeave;
}) {
  const [path] = useLocation();
  const viewer = useMemo(() => guestOf(guest, onLeave), [guest, onLeave]);
  const page = `${viewer.baseOf(viewer.environment)}/machines`;
  return path === page ? <Pages viewer={viewer} /> : <Redirect to={page} replace />;
}

/** The frame and the open page, which share one store of queries and one connection. */
function Pages({ viewer }: { readonly viewer: Viewer }) {
  const [client] = useState(
    () => new QueryClient({ defaultOptions: { queries: { staleTime: FRESH_MS, retry: isWorthRepeating } } }),
  );
  const { connection, environment, baseOf, onExpired } = viewer;
  useEffect(() => {
    connection.start();
    return () => connection.end();
  }, [connection]);
  const state = useSyncExternalStore(connection.subscribe, () => connection.state);
  useEffect(() => {
    if (state === 'over') onExpired();
  }, [state, onExpired]);
  return (
    <QueryClientProvider client={client}>
      <Router base={baseOf(environment)} key={environment}>
        <ViewerProvider viewer={viewer}>
          <Shell>
            <OpenPage />
          </Shell>
          <ConnectionNote />
        </ViewerProvider>
      </Router>
    </QueryClientProvider>
  );
}

/**
 * The ways out. Signing out ends the session, which the connection and open requests may find before its
 * answer arrives: the page then says that the person has signed out.
 */
function waysOut(onLeave: OnLeave, signOut: () => Promise<unknown>): Pick<Viewer, 'onExpired' | 'onSignOut'> {
  let isSigningOut = false;
  return {
    onExpired: () => {
      if (!isSigningOut) onLeave('sessionEnded');
    },
    onSignOut: () => {
      isSigningOut = true;
      void signOut().then(
        () => onLeave('signedOut'),
        (problem: RequestError) => {
          isSigningOut = false;
          toastProblem(problem);
        },
      );
    },
  };
}

/**
 * Ends the session, then removes all typed content from the browser, because the next user of it may be
 * another person.
 */
async function signOutMember(): Promise<void> {
  await drafts.settle();
  await entry.signOut().catch(unlessEnded);
  await drafts.clear();
}

/** A member of a session that has ended is signed out already. */
function unlessEnded(problem: RequestError): void {
  if (problem.status !== 401) throw problem;
}

function memberOf(session: Session, environment: Environment, onLeave: OnLeave): Viewer {
  const { workspace, permissions } = session;
  return {
    session,
    workspace,
    environment,
    baseOf: (named) => baseOf(workspace.id, named),
    // An archived workspace is read-only.
    may: (permission) =>
      (permissions.includes('*') || permissions.includes(permission)) &&
      (!workspace.archived || permission.endsWith(':read')),
    machines: machinesAt(environment),
    connection: new Connection(
      `/app/api/${environment}/changes?workspace=${encodeURIComponent(workspace.id)}`,
    ),
    ...waysOut(onLeave, signOutMember),
  };
}

const guestOf = (guest: GuestSession, onLeave: OnLeave): Viewer => ({
  session: null,
  workspace: { id: guest.workspaceId, name: guest.workspaceName, archived: false },
  environment: guest.livemode ? 'live' : 'test',
  baseOf: (named) => baseOf(null, named),
  // The one permission that every guest has. The service shows no kinds of actors beyond those of the key.
  may: (permission) => permission === 'emails:read',
  machines: machinesAt(GUEST_API),
  connection: new Connection('/inspector/live'),
  ...waysOut(onLeave, guestEntry.close),
});
