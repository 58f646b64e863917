import { lazy, Suspense, startTransition, useCallback, useEffect, useState } from 'react';
import {
  baseOf,
  forgetWorkspace,
  lastEnvironment,
  lastWorkspace,
  readAddress,
  wholeAddress,
} from './addresses.ts';
import { type GuestSession, guestEntry } from './api/guest.ts';
import { RequestError } from './api/requests.ts';
import { entry, type Session } from './api/session.ts';
import { drafts } from './editing/drafts.ts';
import type { EntranceWords } from './entrances/words/en.ts';
import { currentPlace, goHome, usePlace } from './place.ts';
import { loadPageOf } from './shell/open-page.tsx';
import { GuestSignedIn, SignedIn } from './signed-in.tsx';

/** The reason for which a person is asked to sign in. */
type Why = keyof EntranceWords['why'];

/**
 * The user of the application: a member, a guest with a key or a printed link, signed out, without any
 * account on this installation, or unknown with the reason.
 */
type Visitor =
  | { readonly session: Session }
  | { readonly guest: GuestSession }
  | {
      readonly isSetUp: boolean;
      readonly isGuest?: boolean;
      readonly why: Why | null;
      /** Why a printed link was refused. */
      readonly refusal?: string | null;
    }
  | { readonly problem: RequestError };

/**
 * An address that a redirect completes while the page is rendered has all of it rendered again, in one piece.
 */
function completeAddress({ workspace }: Session): void {
  const { pathname, search, hash } = location;
  const { workspaceId, environment } = readAddress(pathname);
  if (currentPlace().page !== 'home' || (workspaceId !== null && environment !== null)) return;
  if (workspaceId !== null && workspaceId !== workspace.id) return;
  history.replaceState(null, '', wholeAddress(pathname, workspace.id) + search + hash);
}

async function arrive(): Promise<Visitor> {
  const [visitor] = await Promise.all([meet(null), loadPageOf(location.pathname)]);
  return visitor;
}

/**
 * The addresses of the page that guests may open. Elsewhere a guest is signed out, and may sign in as a
 * member.
 */
const FOR_GUESTS = /^\/app(?:\/ws_[0-9a-z]+)?\/(?:test|live)\/machines$/;

/**
 * The session in the workspace that the address names, else in the one of the last visit from this browser.
 * @throws RequestError
 */
async function openSession(): Promise<Session> {
  const { workspaceId } = readAddress(location.pathname);
  try {
    return await entry.session(workspaceId ?? lastWorkspace());
  } catch (error) {
    const isGone = error instanceof RequestError && error.status === 404;
    if (workspaceId !== null || !isGone) throw error;
    forgetWorkspace();
    return await entry.session(null);
  }
}

async function meet(why: Why | null): Promise<Visitor> {
  try {
    if (currentPlace().page === 'liveView') return await arriveAsGuest(why);
    return { session: await openSession() };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    // The session is that of a guest: the service refuses everything else.
    const guest = error.status === 403 ? await guestEntry.session().catch(() => null) : null;
    const isGuest = guest?.isMember === false;
    if (isGuest && FOR_GUESTS.test(location.pathname)) return { guest };
    if (error.status !== 401 && !isGuest) return { problem: error };
  }
  void drafts.sessionEnded();
  try {
    return { isSetUp: await entry.isSetUp(), why };
  } catch (error) {
    return { problem: error as RequestError };
  }
}

/** A link works once. */
let usedTicket: string | null = null;

/** Opens the printed link, if it has led here, and tells whose session this is. @throws RequestError */
async function arriveAsGuest(why: Why | null): Promise<Visitor> {
  const { token: ticket } = currentPlace();
  const isNew = ticket !== null && ticket !== usedTicket;
  usedTicket = ticket;
  const refusal = !isNew ? null : await guestEntry.open({ ticket }).then(() => null, messageOf);
  const guest = await guestEntry.session();
  if (guest === null || refusal !== null) return { isSetUp: true, why, refusal };
  return guest.isMember ? { session: await openSession() } : { guest };
}

const messageOf = (error: Error): string => error.message;

// The session and the page's data are requested while React starts, not after it.
let arrival: Promise<Visitor> | null = currentPlace().page === 'liveView' ? meet(null) : arrive();

// A user who is signed in needs none of the entrances, so they are a chunk apart.
const operator = () => import('./entrances/operator.tsx');
const reset = () => import('./entrances/reset.tsx');
const Entrance = lazy(async () => ({ default: (await import('./entrances/frame.tsx')).Entrance }));
const Invitation = lazy(async () => ({ default: (await import('./entrances/invitation.tsx')).Invitation }));
const KeyEntrance = lazy(async () => ({ default: (await operator()).KeyEntrance }));
const LinkNeeded = lazy(async () => ({ default: (await reset()).LinkNeeded }));
const NotSetUp = lazy(async () => ({ default: (await operator()).NotSetUp }));
const Reset = lazy(async () => ({ default: (await reset()).Reset }));
const Setup = lazy(async () => ({ default: (await operator()).Setup }));
const SignIn = lazy(async () => ({ default: (await import('./entrances/sign-in.tsx')).SignIn }));
const Boot = () => <p className="boot">Opening Posthorn…</p>;

/** Continues at another address, with the query of this one. */
function Continue({ to }: { readonly to: string }) {
  useEffect(() => goHome(to + location.search), [to]);
  return <Boot />;
}

export const Application = () => (
  <Suspense fallback={<Boot />}>
    <Visit />
  </Suspense>
);

/** The entrances, or the pages of a user who is signed in. */
function Visit() {
  const { page, token } = usePlace();
  const [visitor, setVisitor] = useState<Visitor | null>(null);
  const look = useCallback(async (why: Why | null = null) => {
    const first = arrival;
    arrival = null;
    // All that one arrives at is drawn in pieces, between which the browser can answer.
    if (first) {
      const arrived = await first;
      if ('session' in arrived) completeAddress(arrived.session);
      startTransition(() => setVisitor(arrived));
    } else setVisitor(await meet(why));
  }, []);
  const enter = useCallback(() => look(), [look]);
  const leave = useCallback((why: Why) => void look(why), [look]);
  const leaveAsGuest = useCallback((why: Why) => setVisitor({ isSetUp: true, isGuest: true, why }), []);
  // Another printed link may come to the open page.
  const ticket = page === 'liveView' ? token : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new ticket opens another session
  useEffect(() => void look(), [look, ticket]);

  if (!visitor) return <Boot />;
  if ('problem' in visitor)
    return (
      <Entrance title="This did not work" about={<p role="alert">{visitor.problem.message}</p>}>
        <p>{visitor.problem.suggestion}</p>
        {visitor.problem.status === 404 && (
          <a href="/app" className="button button-main">
            Open your workspace
          </a>
        )}
        <button type="button" className="button" onClick={() => void look()}>
          Try again
        </button>
      </Entrance>
    );
  const session = 'session' in visitor ? visitor.session : null;
  if (page === 'liveView') {
    if ('guest' in visitor)
      return <Continue to={`${baseOf(null, visitor.guest.livemode ? 'live' : 'test')}/machines`} />;
    if (session) return <Continue to={`${baseOf(session.workspace.id, lastEnvironment())}/machines`} />;
    const { why = null, refusal = null } = 'why' in visitor ? visitor : {};
    return <KeyEntrance why={why} refusal={refusal} onIn={enter} />;
  }
  if (page === 'reset')
    return token === null ? (
      <LinkNeeded needs="resetNeedsLink" />
    ) : (
      <Reset key={token} token={token} onDone={look} />
    );
  if (page === 'invitation')
    return token === null ? (
      <LinkNeeded needs="invitationNeedsLink" />
    ) : (
      <Invitation key={token} token={token} session={session} onIn={enter} />
    );
  if (session) return <SignedIn key={session.workspace.id} session={session} onLeave={leave} />;
  if ('guest' in visitor) return <GuestSignedIn guest={visitor.guest} onLeave={leaveAsGuest} />;
  if (!('isSetUp' in visitor)) return <Boot />;
  if (visitor.isGuest) return <KeyEntrance why={visitor.why} refusal={null} onIn={enter} />;
  if (!visitor.isSetUp)
    return page === 'setup' && token !== null ? (
      <Setup key={token} token={token} onIn={enter} />
    ) : (
      <NotSetUp />
    );
  const why = page === 'setup' ? 'alreadySetUp' : visitor.why;
  return <SignIn why={why} onIn={enter} />;
}
