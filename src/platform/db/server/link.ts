import { isRefusedSetting } from '../sqlstate.ts';
import { connect, DIRECT, type Link } from './connect.ts';
import { backendOf } from './pool.ts';

const ASK = `select pg_backend_pid() as pid, to_regclass('pg_dist_partition') is not null as "hasCitus"`;

/**
 * Finds out what a URL leads to: a pooler greets with a process id that is not the backend's. A server that
 * cannot be asked counts as direct; the first statement then says what is wrong with it. The time limit of a
 * connection ends once a server accepts it, even if the server then stays silent, so a caller that cannot
 * wait gives `withinMs`.
 */
export async function findLink(url: string, withinMs?: number): Promise<Link> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = withinMs === undefined ? null : setTimeout(() => reject(new Error('Too late')), withinMs);
  try {
    return await linkOf(url, late);
  } finally {
    if (timer) clearTimeout(timer);
  }
}

async function linkOf(url: string, late: Promise<never>): Promise<Link> {
  for (const takesSettings of [true, false]) {
    const client = connect({ url, name: 'posthorn probe', max: 1, link: { ...DIRECT, takesSettings } });
    try {
      const asking = client.unsafe<{ pid: number; hasCitus: boolean }[]>(ASK).simple();
      const [row] = await Promise.race([asking, late]);
      const isPooled = backendOf(asking) !== row?.pid;
      const hasCitus = row?.hasCitus === true;
      return isPooled || !takesSettings || hasCitus ? { isPooled, takesSettings, hasCitus } : DIRECT;
    } catch (error) {
      if (!isRefusedSetting(error)) return DIRECT;
    } finally {
      void client.end({ timeout: 0 }).catch(() => {});
    }
  }
  return DIRECT;
}
