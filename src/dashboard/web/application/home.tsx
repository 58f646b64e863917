import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Permission } from '../../../auth/permissions.ts';
import type { ApiKeyView } from '../../../modules/api-keys/model.ts';
import { Problem } from './form.tsx';
import { Frame } from './frame.tsx';
import { KeyList } from './keys.tsx';
import { type Environment, entry, requestsOf, type Session } from './requests.ts';
import { TestEmail } from './test-email.tsx';

const STORED = 'posthorn environment';
const EXPIRED = 'Your session has ended. Sign in again.';

/** The first steps, and the API keys. */
export function Home({
  session,
  onLeave,
}: {
  readonly session: Session;
  readonly onLeave: (why: string) => void;
}) {
  const [environment, setEnvironment] = useState<Environment>(() =>
    localStorage.getItem(STORED) === 'live' ? 'live' : 'test',
  );
  const requests = useMemo(
    () => requestsOf(session.workspace.id, environment, () => onLeave(EXPIRED)),
    [session.workspace.id, environment, onLeave],
  );
  const may = (permission: Permission) =>
    session.permissions.includes('*') || session.permissions.includes(permission);
  const viewer = { session, environment, may };
  const [keys, setKeys] = useState<readonly ApiKeyView[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const maySeeKeys = may('api-keys:read');

  const load = useCallback(async () => {
    if (!maySeeKeys) return;
    try {
      setKeys(await requests.keys());
      setProblem(null);
    } catch (error) {
      setProblem((error as Error).message);
    }
  }, [requests, maySeeKeys]);
  useEffect(() => {
    setKeys(null);
    void load();
  }, [load]);

  async function signOut() {
    try {
      await entry.signOut();
      onLeave('You are signed out.');
    } catch (error) {
      setProblem((error as Error).message);
    }
  }

  return (
    <Frame
      session={session}
      environment={environment}
      onEnvironment={(chosen) => {
        localStorage.setItem(STORED, chosen);
        setEnvironment(chosen);
      }}
      onSignOut={() => void signOut()}
    >
      <title>{`${session.workspace.name} · Posthorn`}</title>
      <h1 className="text-[20px] font-semibold tracking-tight">Welcome, {session.account.name}</h1>
      {session.workspace.archived && (
        <p className="card p-4">This workspace is archived: everything can be read, nothing changed.</p>
      )}
      {problem !== null && <Problem>{problem}</Problem>}
      <TestEmail viewer={viewer} onExpired={() => onLeave(EXPIRED)} />
      {maySeeKeys && (
        <KeyList key={environment} viewer={viewer} requests={requests} keys={keys} onChange={load} />
      )}
      <FurtherSteps maySeeMachines={may('emails:read')} />
    </Frame>
  );
}

const FurtherSteps = ({ maySeeMachines }: { readonly maySeeMachines: boolean }) => (
  <section aria-labelledby="further" className="card p-5">
    <h2 id="further" className="mb-2 text-[16px] font-semibold">
      Where to go on
    </h2>
    <ul className="grid gap-2">
      <li>
        <a href="/docs" className="link">
          Read the documentation
        </a>{' '}
        <span className="text-dim">every endpoint, with examples to copy</span>
      </li>
      {maySeeMachines && (
        <li>
          <a href="/inspector" className="link">
            Watch the machines
          </a>{' '}
          <span className="text-dim">live email, as it moves from state to state</span>
        </li>
      )}
    </ul>
  </section>
);
