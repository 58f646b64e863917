import { connect, DIRECT, type Link } from './connect.ts';
import { backendOf } from './pool.ts';
import { isRefusedSetting } from './sqlstate.ts';

/**
 * Finds out what a URL leads to: a pooler greets with a process id of its own, which is not the backend's. A server that cannot be
 * asked counts as direct; the first statement then says what is wrong with it.
 */
export async function findLink(url: string): Promise<Link> {
  for (const takesSettings of [true, false]) {
    const client = connect({ url, name: 'posthorn probe', max: 1, link: { isPooled: false, takesSettings } });
    try {
      const asking = client.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid').simple();
      const [row] = await asking;
      const isPooled = backendOf(asking) !== row?.pid;
      return isPooled || !takesSettings ? { isPooled, takesSettings } : DIRECT;
    } catch (error) {
      if (!isRefusedSetting(error)) return DIRECT;
    } finally {
      void client.end({ timeout: 0 }).catch(() => {});
    }
  }
  return DIRECT;
}
