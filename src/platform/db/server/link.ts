import { isRefusedSetting } from '../sqlstate.ts';
import { connect, DIRECT, type Link } from './connect.ts';
import { backendOf } from './pool.ts';

const ASK = `select pg_backend_pid() as pid, to_regclass('pg_dist_partition') is not null as "hasCitus"`;

/**
 * A server itself says 42704 to a setting that it does not know: only a pooler refuses all connections with
 * one.
 */
const REFUSING: Link = { ...DIRECT, isPooled: true, takesSettings: false };

/**
 * Finds out what a URL leads to: a pooler greets with a process id that is not the backend's, or refuses
 * settings. A server that cannot be asked counts as direct; the first statement then says what is wrong with
 * it.
 * @param withinMs a pooler accepts a connection at once, and lets it wait for minutes while its server is
 * away
 */
export async function findLink(url: string, withinMs: number): Promise<Link> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Too late')), withinMs);
  try {
    return await linkOf(url, late);
  } finally {
    clearTimeout(timer);
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
      // A wrong password or silence after the refusal meets the first statement too, and that must not be
      // refused for its settings.
      if (!isRefusedSetting(error)) return takesSettings ? DIRECT : REFUSING;
    } finally {
      void client.end({ timeout: 0 }).catch(() => {});
    }
  }
  return REFUSING;
}
