import { lazy, Suspense, startTransition, useCallback, useEffect, useState } from 'react';
import { RequestError } from './api/requests.ts';
import { entry, type Session } from './api/session.ts';
import { drafts } from './editing/drafts.ts';
import { arrivedPlace, usePlace } from './place.ts';
import { loadPageOf } from './shell/open-page.tsx';
import { SignedIn } from './signed-in.tsx';

/**
 * The user of the application: signed in, signed out, without any account on this installation, or unknown
 * with the reason.
 */
type Visitor =
  | { readonly session: Session }
  | { readonly session: null; readonly isSetUp: boolean; readonly why: string | null }
  | { readonly session: null; readonly problem: RequestError };

async function arrive(): Promise<Visitor> {
  const [visitor] = await Promise.all([meet(null), loadPageOf(location.pathname)]);
  return visitor;
}

async function meet(why: string | null): Promise<Visitor> {
  try {
    return { session: await entry.session() };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (error.status !== 401) return { session: null, problem: error };
  }
  void drafts.sessionEnded();
  try {
    return { session: null, isSetUp: await entry.isSetUp(), why };
  } catch (error) {
    return { session: null, problem: error as RequestError };
  }
}

// The session and the page's data are requested while React starts, not after it.
const { page: arrivedAt } = arrivedPlace();
let arrival: Promise<Visitor> | null = arrivedAt === 'liveView' ? null : arrive();

const LiveView = lazy(() => import('../live-view-canvas.tsx'));
// A user who is signed in needs none of the entrances, so they are a chunk apart.
const load = () => import('./entrances.tsx');
const Entrance = lazy(async () => ({ default: (await load()).Entrance }));
const Invitation = lazy(async () => ({ default: (await load()).Invitation }));
const LinkNeeded = lazy(async () => ({ default: (await load()).LinkNeeded }));
const NotSetUp = lazy(async () => ({ default: (await load()).NotSetUp }));
const Reset = lazy(async () => ({ default: (await load()).Reset }));
const Setup = lazy(async () => ({ default: (await load()).Setup }));
const SignIn = lazy(async () => ({ default: (await load()).SignIn }));
const Boot = () => <p className="boot">Opening Posthorn…</p>;

/** The application, or the live view for a user with a key or a printed link but without an account. */
export const Application = () => (
  <Suspense fallback={<Boot />}>{usePlace().page === 'liveView' ? <LiveView /> : <WithAccount />}</Suspense>
);

/** The entrances, or the pages of a user who is signed in. */
function WithAccount() {
  const { page, token } = usePlace();
  const [visitor, setVisitor] = useState<Visitor | null>(null);
  const look = useCallback(async (why: string | null = null) => {
    const first = arrival;
    arrival = null;
    // All that one arrives at is drawn in pieces, between which the browser can answer.
    if (first) {
      const arrived = await first;
      startTransition(() => setVisitor(arrived));
    } else setVisitor(await meet(why));
  }, []);
  const enter = useCallback(() => look(), [look]);
  const leave = useCallback((why: string) => void look(why), [look]);
  useEffect(() => void look(), [look]);

  if (!visitor) return <Boot />;
  if ('problem' in visitor)
    return (
      <Entrance title="This did not work" about={<p role="alert">{visitor.problem.message}</p>}>
        <p>{visitor.problem.suggestion}</p>
        <button type="button" className="button" onClick={() => void look()}>
          Try again
        </button>
      </Entrance>
    );
  const { session } = visitor;
  if (page === 'reset')
    return token === null ? (
      <LinkNeeded what="A new password needs the link that the operator prints." />
    ) : (
      <Reset key={token} token={token} onDone={look} />
    );
  if (page === 'invitation')
    return token === null ? (
      <LinkNeeded what="An invitation needs the link that you received." />
    ) : (
      <Invitation key={token} token={token} session={session} onIn={enter} />
    );
  if (session) return <SignedIn key={session.workspace.id} session={session} onLeave={leave} />;
  if (!visitor.isSetUp)
    return page === 'setup' && token !== null ? (
      <Setup key={token} token={token} onIn={enter} />
    ) : (
      <NotSetUp />
    );
  const why = page === 'setup' ? 'The first account already exists.' : visitor.why;
  return <SignIn why={why} onIn={enter} />;
}
