import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Redirect, Router, useLocation } from 'wouter';
import { RequestError } from './api/requests.ts';
import { type Environment, entry, type Session } from './api/session.ts';
import { type Viewer, ViewerProvider } from './api/viewer.tsx';
import { drafts } from './editing/drafts.ts';
import { ConnectionNote } from './shell/connection.tsx';
import { environmentOf, lastEnvironment, rememberEnvironment } from './shell/environments.ts';
import { OpenPage } from './shell/open-page.tsx';
import { Shell } from './shell/shell.tsx';
import { toastProblem } from './ui/overlays/toast.tsx';

/** Answers are reused without a request for this time; a page that becomes visible again always sends one. */
const FRESH_MS = 2_000;
/** A service that restarts is asked again this often; what it refuses is not. */
const MOST_TRIES = 2;

const isWorthRepeating = (tries: number, error: Error): boolean =>
  tries < MOST_TRIES && error instanceof RequestError && (error.status === 0 || error.status >= 500);

/** The application of a user who is signed in. The address names the environment: `/app/test/emails`. */
export function SignedIn({
  session,
  onLeave,
}: {
  readonly session: Session;
  readonly onLeave: (why: string) => void;
}) {
  const [path] = useLocation();
  const [client] = useState(
    () => new QueryClient({ defaultOptions: { queries: { staleTime: FRESH_MS, retry: isWorthRepeating } } }),
  );
  const environment = environmentOf(path);
  const viewer = useMemo(
    () => viewerOf(session, environment ?? 'test', onLeave),
    [session, environment, onLeave],
  );
  const { id: account } = session.account;
  useEffect(() => void drafts.resume(account), [account]);
  if (environment === null) return <Redirect to={`/app/${lastEnvironment()}`} replace />;
  rememberEnvironment(environment);
  return (
    <QueryClientProvider client={client}>
      <Router base={`/app/${environment}`} key={environment}>
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

/** Removes all typed content from the browser, because the next user of it may be another person. */
async function signedOut(onLeave: (why: string) => void): Promise<void> {
  await drafts.clear();
  onLeave('You are signed out.');
}

const viewerOf = (session: Session, environment: Environment, onLeave: (why: string) => void): Viewer => ({
  session,
  environment,
  // An archived workspace is read-only.
  may: (permission) =>
    (session.permissions.includes('*') || session.permissions.includes(permission)) &&
    (!session.workspace.archived || permission.endsWith(':read')),
  onExpired: () => onLeave('Your session has ended. Sign in again.'),
  onSignOut: () => void entry.signOut().then(() => signedOut(onLeave), toastProblem),
});
