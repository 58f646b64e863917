import postgres from 'postgres';
import { parse } from 'postgres-array';
import { wireText } from '../wire/wire-text.ts';
import { partsOf } from './url-parts.ts';

/**
 * The server's statement timeout. It is shorter than ours, so that a slow statement costs one error and not
 * the connection.
 */
const STATEMENT_TIMEOUT_MS = 6_000;

/**
 * The forms in which values are read here. A role, a database or postgresql.conf may have set others for
 * other programs: dates then cannot be read (500 at every read), bytes are others, and the clock of the
 * database is rounded by years. Every pooler passes DateStyle on, and client_encoding, which postgres.js
 * sets.
 */
const DATES = { DateStyle: 'ISO, MDY' };
const FORMS = { IntervalStyle: 'postgres', bytea_output: 'hex', extra_float_digits: '1' };

const TEXTS_OID = 1_009;
/**
 * The type of text[], the only array in use. postgres.js would ask every new connection for the array types
 * of the server; when the server goes away just then, the rejection of that query is unhandled, which ends
 * the process.
 */
const TEXTS: postgres.PostgresType<readonly string[]> = {
  to: TEXTS_OID,
  from: [TEXTS_OID],
  serialize: wireText,
  parse: (list: string) => parse(list),
};

/** The link between this process and a server. */
export interface Link {
  /** True for a pooler, such as PgBouncer: consecutive transactions may get different backends. */
  readonly isPooled: boolean;
  /** False where a pooler refuses connections with settings. */
  readonly takesSettings: boolean;
  /**
   * True where the extension Citus is: only a plan that is made for its values knows which nodes they are
   * for.
   */
  readonly hasCitus: boolean;
}

export const DIRECT: Link = { isPooled: false, takesSettings: true, hasCitus: false };

/** The parts that connections are opened with. */
export interface ConnectionOptions {
  readonly url: string;
  /** The name that `pg_stat_activity` shows. */
  readonly name: string;
  readonly max: number;
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * True where a server that has become a standby must not be connected to: it can be read, and answers what
   * was.
   */
  readonly primaryOnly?: boolean;
  /** Called whenever a connection has ended. */
  readonly onClose?: () => void;
  /** Called with the text of each notification of a channel that the connection listens to. */
  readonly onNotification?: ((payload: string) => void) | undefined;
  readonly link: Link;
  /** The deadlines are so many times as long. */
  readonly patience?: number;
}

/** Opens connections to one server, when they are first used; parameters must be texts (`wireText`). */
export function connect({
  url,
  name,
  max,
  settings = {},
  primaryOnly = false,
  onClose = () => {},
  onNotification,
  link,
  patience = 1,
}: ConnectionOptions): postgres.Sql {
  const { settings: ofUrl, ...place } = partsOf(url);
  const client = postgres({
    ...place,
    max,
    // The 100th pipelined query on one connection would lose a BEGIN; the default backoff delays recovery by
    // 10 s (measured). PgBouncer 1.18 gives a backend away when it has answered all that ends with Sync: the
    // first half of a statement (Parse, Describe, Flush) that was sent behind another one then gets no
    // answer, and hangs (tests/failure/pgbouncer-long.ts).
    max_pipeline: link.isPooled ? 0 : 1_000_000,
    backoff: () => 0.25,
    max_lifetime: null,
    connect_timeout: 5 * patience,
    onnotice: () => {},
    onclose: onClose,
    ...(onNotification && { onnotify: (_channel: string, payload: string) => onNotification(payload) }),
    fetch_types: false,
    types: { texts: TEXTS },
    ...(primaryOnly && { target_session_attrs: 'primary' }),
    connection: {
      application_name: name,
      ...DATES,
      ...(link.takesSettings && {
        ...FORMS,
        statement_timeout: STATEMENT_TIMEOUT_MS * patience,
        idle_in_transaction_session_timeout: 10_000,
        ...settings,
        ...(link.hasCitus && 'plan_cache_mode' in settings && { plan_cache_mode: 'force_custom_plan' }),
      }),
      ...ofUrl,
    },
  } as postgres.Options<Record<string, postgres.PostgresType>>);
  // Parameters are texts already (`wireText`), so nothing is serialized here.
  for (const type of Object.keys(client.options.serializers)) delete client.options.serializers[Number(type)];
  return client;
}
