import { setTimeout as pause } from 'node:timers/promises';
import { UnavailableError } from '../../errors/unavailable.ts';
import { codeOf } from '../sqlstate.ts';
import { connect, DIRECT, type Link } from './connect.ts';
import type { ProbeResult } from './health-probe.ts';
import { serverName, serverUrls } from './server-urls.ts';

/** The time that a probe has for a connection and one statement. */
const LOOK_MS = 600;
/** The time between two looks for a primary at the start. */
const REST_MS = 250;
/**
 * The time that a start waits for a primary: a failover takes up to the lease of its manager, 20 s in a usual
 * Patroni.
 */
const START_MS = 30_000;

/**
 * The answer of one server over a new connection. The timeline is null on a standby; each promotion begins a
 * higher one.
 */
export type ServerSeen =
  | { readonly seen: 'answering'; readonly atWork: readonly number[]; readonly timeline: string | null }
  | { readonly seen: 'refusing' | 'full' | 'silent' };

/** Probes a server over a new connection, and finds the connections of that name that it works for. */
export async function probeServer(url: string, name: string, link: Link = DIRECT): Promise<ServerSeen> {
  const client = connect({ url, name: 'posthorn probe', max: 1, link });
  const { promise: late, resolve } = Promise.withResolvers<ServerSeen>();
  const timer = setTimeout(() => resolve({ seen: 'silent' }), LOOK_MS);
  const asking = client
    .unsafe<{ timeline: string | null; pids: string }[]>(
      // A backend that waits for its client does not work: the rest of a statement may never arrive.
      `select case when not pg_is_in_recovery() then substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline,
         (select coalesce(string_agg(pid::text, ','), '') from pg_stat_activity
          where application_name = '${name}' and state = 'active' and wait_event_type is distinct from 'Client') as pids`,
    )
    .simple()
    .then(
      ([row]): ServerSeen => ({
        seen: 'answering',
        atWork: row?.pids ? row.pids.split(',').map(Number) : [],
        timeline: row?.timeline ?? null,
      }),
      (error): ServerSeen => ({ seen: codeOf(error) === '53300' ? 'full' : 'refusing' }),
    );
  const sighting = await Promise.race([asking, late]);
  clearTimeout(timer);
  void client.end({ timeout: 0 }).catch(() => {});
  return sighting;
}

/** The servers that a URL names, and the one among them that takes the writes. */
export class Servers {
  readonly #urls: readonly string[];
  #current: string;
  /** The latest timeline on which a primary was seen. */
  #timeline = '';
  #setBack: string | null = null;

  constructor(
    url: string,
    private readonly probe: (url: string) => Promise<ServerSeen>,
  ) {
    this.#urls = serverUrls(url) ?? [url];
    this.#current = this.#urls[0] as string;
  }

  /** The URL of the server that took the writes when it was last looked for. */
  get url(): string {
    return this.#current;
  }

  get areSeveral(): boolean {
    return this.#urls.length > 1;
  }

  /** Says that the servers have gone back to an earlier timeline than was seen; null otherwise. */
  get setBack(): string | null {
    return this.#setBack;
  }

  /** Looks at every server at once, and goes over to another primary. */
  async look(): Promise<ProbeResult> {
    return (await this.#look()).result;
  }

  /**
   * Finds the primary of several, for which a start waits; returns true if it is not the previous one.
   * @throws UnavailableError with the state of each server
   */
  async find(withinMs = START_MS): Promise<boolean> {
    if (!this.areSeveral) return false;
    const until = performance.now() + withinMs;
    for (;;) {
      const { result, each } = await this.#look();
      if (result.seen === 'answering' || result.seen === 'elsewhere') return result.seen === 'elsewhere';
      if (performance.now() >= until)
        throw new UnavailableError(
          `None of the servers of DATABASE_URL takes writes: ${each.map(told).join(', ')}. Promote one, or name the primary.`,
        );
      await pause(REST_MS);
    }
  }

  async #look(): Promise<{ result: ProbeResult; each: readonly Look[] }> {
    const each = await Promise.all(this.#urls.map(async (url) => ({ url, found: await this.probe(url) })));
    const own = each.find(({ url }) => url === this.#current)?.found ?? { seen: 'silent' };
    if (!this.areSeveral) return { result: own, each };
    // A leader that was suspended believes in itself when it resumes: the later timeline counts, even while
    // the server on it does not answer. Writes to the older one would be lost.
    const [primary] = each
      .flatMap(({ url, found }) =>
        found.seen === 'answering' && found.timeline !== null && found.timeline >= this.#timeline
          ? [{ url, found, timeline: found.timeline }]
          : [],
      )
      .toSorted(
        (a, b) =>
          b.timeline.localeCompare(a.timeline) || Number(b.url === this.url) - Number(a.url === this.url),
      );
    this.#setBack = primary === undefined ? setBackOf(each, this.#timeline) : null;
    if (primary === undefined) {
      // The one in use may be slow or full; only where it is certainly no primary is there none.
      const isUndecided = own.seen === 'silent' || own.seen === 'full';
      return { result: isUndecided ? own : { seen: 'leaderless' }, each };
    }
    this.#timeline = primary.timeline;
    if (primary.url === this.#current) return { result: primary.found, each };
    this.#current = primary.url;
    return { result: { seen: 'elsewhere' }, each };
  }
}

interface Look {
  readonly url: string;
  readonly found: ServerSeen;
}

/**
 * A manager that takes a leadership back undoes the commits of the later leader. Only the log of this process
 * shows which those were, so a person has to look before it goes on.
 */
function setBackOf(each: readonly Look[], timeline: string): string | null {
  for (const { url, found } of each)
    if (found.seen === 'answering' && found.timeline !== null && found.timeline < timeline)
      return `${serverName(url)} takes writes on timeline ${number(found.timeline)}, though timeline ${number(timeline)} was seen: commits acknowledged on that one are missing. See docs/scale.md, and restart this instance to continue without them.`;
  return null;
}

const number = (timeline: string): number => Number.parseInt(timeline, 16);

const WORDS = {
  answering: 'is a standby',
  refusing: 'cannot be reached',
  full: 'takes no more connections',
  silent: 'does not answer',
} as const satisfies Record<ServerSeen['seen'], string>;

const told = ({ url, found }: Look): string => `${serverName(url)} ${WORDS[found.seen]}`;

/** The URL of the one server that takes writes, for a separate session. @throws UnavailableError */
export async function primaryUrl(url: string): Promise<string> {
  const servers = new Servers(url, (each) => probeServer(each, ''));
  await servers.find();
  return servers.url;
}
