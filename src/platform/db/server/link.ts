import type postgres from 'postgres';
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
  const client = openTo(url, true);
  try {
    return (await askForLink(client, url, withinMs)) ?? DIRECT;
  } finally {
    void client.end({ timeout: 0 }).catch(() => {});
  }
}

/**
 * The same over a client with settings, whose connection serves other statements afterwards: to open one
 * takes the server 36 ms of processor time. Undefined where there was no answer; the client is of no more use
 * then.
 */
export async function askForLink(
  client: postgres.Sql,
  url: string,
  withinMs: number,
): Promise<Link | undefined> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('Too late')), withinMs);
  try {
    return await linkOver(client, true, late);
  } catch (error) {
    // A wrong password or silence after the refusal meets the first statement too, and that must not be
    // refused for its settings.
    return isRefusedSetting(error) ? await linkWithoutSettings(url, late) : undefined;
  } finally {
    clearTimeout(timer);
  }
}

const openTo = (url: string, takesSettings: boolean): postgres.Sql =>
  connect({ url, name: 'posthorn probe', max: 1, link: { ...DIRECT, takesSettings } });

async function linkWithoutSettings(url: string, late: Promise<never>): Promise<Link> {
  const client = openTo(url, false);
  try {
    return await linkOver(client, false, late);
  } catch {
    return REFUSING;
  } finally {
    void client.end({ timeout: 0 }).catch(() => {});
  }
}

async function linkOver(client: postgres.Sql, takesSettings: boolean, late: Promise<never>): Promise<Link> {
  const asking = client.unsafe<{ pid: number; hasCitus: boolean }[]>(ASK).simple();
  const [row] = await Promise.race([asking, late]);
  const isPooled = backendOf(asking) !== row?.pid;
  const hasCitus = row?.hasCitus === true;
  return isPooled || !takesSettings || hasCitus ? { isPooled, takesSettings, hasCitus } : DIRECT;
}
