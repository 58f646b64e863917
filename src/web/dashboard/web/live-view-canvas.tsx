import { useCallback, useEffect, useState } from 'react';
import type { Machine, Session } from '../../live/model.ts';
import { outside } from './api.ts';
import { RequestError } from './application/api/requests.ts';
import { lastEnvironment } from './application/shell/environments.ts';
import { inReadingOrder } from './format.ts';
import { LiveConnection } from './live.ts';
import { SignIn } from './sign-in.tsx';
import { Workbench } from './workbench.tsx';

interface LiveViewSession {
  readonly session: Session;
  readonly machines: readonly Machine[];
  readonly live: LiveConnection;
}

/**
 * A printed link carries its ticket in the fragment, which is removed from the address before it can be
 * copied or stored in the history.
 */
async function redeemTicket(): Promise<void> {
  const ticket = /^#open=([\w-]+)$/.exec(location.hash)?.[1];
  if (ticket === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  await outside.open({ ticket });
}

/**
 * The live view without an account: the sign-in, or the workbench. Members are redirected to the application.
 */
export default function LiveView() {
  const [opened, setOpened] = useState<LiveViewSession | null>(null);
  const [closed, setClosed] = useState<{ readonly why: string | null } | null>(null);

  const enter = useCallback(async () => {
    try {
      await redeemTicket();
      const [session, machines] = await Promise.all([outside.session(), outside.machines()]);
      if (session.isMember) {
        location.replace(`/app/${lastEnvironment()}/machines${location.search}`);
        return;
      }
      const live = new LiveConnection(outside);
      live.start();
      setClosed(null);
      setOpened({ session, machines: inReadingOrder(machines), live });
    } catch (error) {
      const isSignedOut = error instanceof RequestError && error.status === 401;
      const isTicket = isSignedOut && error.message.startsWith('This link');
      setClosed({ why: isSignedOut && !isTicket ? null : (error as Error).message });
    }
  }, []);

  const leave = useCallback(
    (why: string | null) => {
      opened?.live.end();
      setOpened(null);
      setClosed({ why });
    },
    [opened],
  );

  useEffect(() => void enter(), [enter]);

  if (opened) return <Workbench {...opened} onLeave={leave} />;
  if (closed) return <SignIn why={closed.why} onEnter={enter} />;
  return <p className="boot">Opening the live view…</p>;
}
