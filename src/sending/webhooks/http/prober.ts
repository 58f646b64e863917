import { isIP } from 'node:net';
import { FairQueue, type SlotLimits } from '../../../platform/async/fair-slots.ts';
import { hostOf } from '../../../platform/text/host.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { isRefusedName, problemOfUrl } from '../endpoints/target.ts';
import type { AddressGuard } from './address-guard.ts';
import { type Connection, Connections, type ConnectionUser } from './connections.ts';
import { guardedLookup, type Resolve, TargetRefused } from './lookup.ts';
import { framingOf } from './response-fields.ts';

/** The time limit of one request, and of a link with its redirects. */
const USUAL: ProbeTimes = { requestMs: 4_000, linkMs: 6_000 };
const MOST_REDIRECTS = 5;
/** Links that are asked for at once: in the whole process, for one workspace, and those that may wait. */
const LIMITS: SlotLimits = { total: 16, perKey: 12, backlog: 400, isWorkConserving: true };
/** Ports of web servers: other services must not be looked for through this one. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);
/** Octets of a response's head. No body is read. */
const HEAD_MAX_BYTES = 16_384;
const MOST_INTERIM = 4;

/** The reason why a link has no answer. */
export type ProbeError =
  | 'forbidden_address'
  | 'unresolved_host'
  | 'no_connection'
  | 'untrusted_tls'
  | 'timeout'
  | 'malformed_answer'
  | 'too_many_redirects';

/** The answer of a link, after its redirects. */
export type ProbeResult =
  | {
      readonly status: number;
      /** Null where the server does not say. */
      readonly contentType: string | null;
      readonly size: number | null;
    }
  | { readonly error: ProbeError };

/** A link to ask for. */
export interface ProbeOrder {
  readonly url: string;
  /** Workspaces take turns. */
  readonly workspaceId: string;
  readonly signal?: AbortSignal;
  /** True where a link may have an effect when it is opened, so that only its head is asked for. */
  readonly onlyHead?: boolean;
  /** Counts a request to a host; false where it must not be asked again. */
  mayAsk?(host: string): boolean;
}

/** Asks where links lead, with the guards of webhooks. */
export interface Prober {
  /**
   * Asks for an address, without reading what is there. Settles in time, whatever the server does. Null where
   * it was not asked, or could not be asked to the end.
   */
  probe(order: ProbeOrder): Promise<ProbeResult | null>;
  close(): void;
}

interface Head {
  readonly status: number;
  readonly location: string | null;
  readonly contentType: string | null;
  readonly size: number | null;
}

/** Answers to HEAD by servers that only answer GET as they should. */
const ONLY_GET: ReadonlySet<number> = new Set([400, 403, 404, 405, 406, 500, 501, 503]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The time limits of asking, in milliseconds. */
export interface ProbeTimes {
  readonly requestMs: number;
  readonly linkMs: number;
}

/** The parts that asking needs. */
export interface ProberOptions {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  /** True where private networks may be reached: then their names and all ports may be as well. */
  readonly privateNames: boolean;
  readonly clock: Clock;
  readonly ca: string | null;
}

/**
 * Makes the prober of a process. Each connection is opened for one request, and its addresses are checked
 * again.
 */
export function createProber(
  { guard, resolve, privateNames, clock, ca }: ProberOptions,
  { requestMs, linkMs }: ProbeTimes = USUAL,
): Prober {
  const connections = new Connections({ clock, lookup: guardedLookup(guard, resolve), ca });
  const room = new FairQueue(LIMITS);

  const follow = async (order: ProbeOrder): Promise<ProbeResult | null> => {
    const until = clock.monotonic() + linkMs;
    let { url } = order;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const head = await askFor(url, order, until);
      if (head === null || 'error' in head) return head;
      if (!REDIRECTS.has(head.status) || head.location === null) return head;
      const next = URL.parse(head.location, url);
      if (next === null) return { error: 'malformed_answer' };
      url = next.href;
    }
    return { error: 'too_many_redirects' };
  };

  const askFor = async (
    text: string,
    { signal, onlyHead = false, mayAsk = () => true }: ProbeOrder,
    until: number,
  ): Promise<Head | { readonly error: ProbeError } | null> => {
    const written = text.replace(/#[\s\S]*$/, '');
    if (problemOfUrl(written) !== null) return { error: 'malformed_answer' };
    const url = new URL(written);
    const host = hostOf(url);
    if (isRefusedName(host, privateNames) || (isIP(host) !== 0 && !guard(host)))
      return { error: 'forbidden_address' };
    if (!privateNames && !WEB_PORTS.has(portOf(url))) return null;
    const ask = async (method: 'HEAD' | 'GET') => {
      if (signal?.aborted || !mayAsk(host)) return null;
      const left = until - clock.monotonic();
      if (left <= 0) return { error: 'timeout' } as const;
      return new HeadRequest(connections, url, host, method).run(Math.min(requestMs, left), signal);
    };
    const head = await ask('HEAD');
    if (head === null || 'error' in head || !ONLY_GET.has(head.status)) return head;
    if (onlyHead) return head.status === 404 ? head : null;
    return ask('GET');
  };

  return {
    probe: (order) => room.take(order.workspaceId, () => follow(order), { signal: order.signal }),
    close() {
      room.close();
      connections.close();
    },
  };
}

const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'https:' ? 443 : 80);

/** One request, whose answer is read to the end of its head. */
class HeadRequest implements ConnectionUser {
  readonly #settled = Promise.withResolvers<Head | { readonly error: ProbeError }>();
  #connection: Connection | null = null;
  #timer: Timer | undefined;
  #forget = (): void => {};
  #isReady = false;
  #octets: Buffer = Buffer.alloc(0);
  #interim = 0;

  constructor(
    private readonly connections: Connections,
    private readonly url: URL,
    private readonly host: string,
    private readonly method: 'HEAD' | 'GET',
  ) {}

  /** Runs until there is an answer, or the time is over, or the signal fires. */
  run(limitMs: number, signal?: AbortSignal): Promise<Head | { readonly error: ProbeError }> {
    const secure = this.url.protocol === 'https:';
    const port = portOf(this.url);
    const giveUp = () => this.#settle({ error: 'timeout' });
    this.#timer = setTimeout(giveUp, limitMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    this.#forget = () => signal?.removeEventListener('abort', giveUp);
    this.#connection = this.connections.open({ key: this.url.href, secure, host: this.host, port });
    this.#connection.user = this;
    return this.#settled.promise;
  }

  ready(): void {
    this.#isReady = true;
    const { pathname, search, host } = this.url;
    const lines = [
      `${this.method} ${pathname}${search} HTTP/1.1`,
      `host: ${host}`,
      'user-agent: Mozilla/5.0 (compatible; svc-link-check/1.0)',
      'accept: */*',
      'accept-encoding: identity',
      'connection: close',
    ];
    this.#connection?.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  }

  data(chunk: Uint8Array): void {
    this.#octets = Buffer.concat([this.#octets, chunk]);
    for (;;) {
      const end = this.#octets.indexOf('\r\n\r\n');
      if (end === -1 || end > HEAD_MAX_BYTES) {
        if (this.#octets.length > HEAD_MAX_BYTES) this.#settle({ error: 'malformed_answer' });
        return;
      }
      const head = headOf(this.#octets, end);
      if (head === null || (head.status < 200 && ++this.#interim > MOST_INTERIM))
        return this.#settle({ error: 'malformed_answer' });
      if (head.status >= 200) return this.#settle(head);
      this.#octets = this.#octets.subarray(end + 4);
    }
  }

  ended(): void {
    this.#settle({ error: 'malformed_answer' });
  }

  closed(error: Error | null): void {
    if (error instanceof TargetRefused) this.#settle({ error: error.reason });
    else this.#settle({ error: this.#reason(error) });
  }

  #reason(error: Error | null): ProbeError {
    const code = error !== null && 'code' in error ? String(error.code) : '';
    if (/^E(?:CONNREFUSED|HOSTDOWN|HOSTUNREACH|NETDOWN|NETUNREACH|TIMEDOUT)$/.test(code))
      return 'no_connection';
    return error !== null && this.url.protocol === 'https:' && !this.#isReady
      ? 'untrusted_tls'
      : 'no_connection';
  }

  #settle(result: Head | { readonly error: ProbeError }): void {
    clearTimeout(this.#timer);
    this.#forget();
    this.#connection?.destroy();
    this.#connection = null;
    this.#settled.resolve(result);
  }
}

/** The head of a response, of which `end` is the end; null when it is malformed. */
function headOf(octets: Buffer, end: number): Head | null {
  const framing = framingOf(octets, end);
  if (framing === null) return null;
  const text = octets.toString('latin1', 0, end);
  const field = (name: string): string | null =>
    text
      .split('\r\n')
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? null;
  return {
    status: framing.status,
    location: field('location'),
    contentType: field('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? null,
    size: framing.length === null ? null : Number(framing.length),
  };
}
