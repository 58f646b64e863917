import { useCallback, useEffect, useState } from 'react';
import type { Machine, Session } from '../../modules/inspector/model.ts';
import { api, Refused } from './api.ts';
import { Live } from './live.ts';
import { SignIn } from './sign-in.tsx';
import { Workbench } from './workbench.tsx';

interface Opened {
  readonly session: Session;
  readonly machines: readonly Machine[];
  readonly live: Live;
}

/** The reading order; kinds that come later follow in the service's own. */
const FIRST = ['email', 'webhookEndpoint', 'webhookDelivery', 'domain'];
const place = ({ kind }: Machine): number => (FIRST.indexOf(kind) + FIRST.length + 1) % (FIRST.length + 1);

/** A printed link carries its ticket behind the mark; it is taken out of the address before anything else. */
async function redeemTicket(): Promise<void> {
  const ticket = /^#open=([\w-]+)$/.exec(location.hash)?.[1];
  if (ticket === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  await api.open({ ticket });
}

/** The page: a door, and the workbench behind it. */
export function App() {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [closed, setClosed] = useState<{ readonly why: string | null } | null>(null);

  const enter = useCallback(async () => {
    try {
      await redeemTicket();
      const [session, machines] = await Promise.all([api.session(), api.machines()]);
      const live = new Live();
      live.start();
      setClosed(null);
      setOpened({ session, machines: machines.toSorted((a, b) => place(a) - place(b)), live });
    } catch (error) {
      const isDoor = error instanceof Refused && error.status === 401;
      const isTicket = isDoor && error.message.startsWith('This link');
      setClosed({ why: isDoor && !isTicket ? null : (error as Error).message });
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
