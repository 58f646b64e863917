import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Machine } from '../../../../live/model.ts';
import { sourceAt } from '../../api.ts';
import { inReadingOrder } from '../../format.ts';
import { useLive } from '../../hooks.ts';
import { LiveConnection } from '../../live.ts';
import { useViewer } from './viewer.tsx';

/**
 * The machines of the environment and the connection that reports their moves, while the component is
 * mounted.
 */
export function useLiveMachines(): {
  readonly live: LiveConnection;
  readonly machines: readonly Machine[] | null;
} {
  const { environment, session, onExpired } = useViewer();
  const { id } = session.workspace;
  const source = useMemo(
    () => sourceAt(environment, `/app/api/${environment}/machines/socket?workspace=${id}`, id),
    [environment, id],
  );
  const [live] = useState(() => new LiveConnection(source));
  useEffect(() => {
    live.start();
    return () => live.end();
  }, [live]);
  const connection = useLive(live, (now) => now.connection);
  useEffect(() => {
    if (connection === 'over') onExpired();
  }, [connection, onExpired]);
  const { data } = useQuery({
    queryKey: [id, environment, 'machines'],
    queryFn: async () => inReadingOrder(await source.machines()),
    staleTime: Number.POSITIVE_INFINITY,
    // Definitions do not change while the service runs.
    meta: { every: false },
  });
  return { live, machines: data ?? null };
}
