import type { ChangeNote } from '../../http/module.ts';
import type { AnsweredRequest } from '../../http/request/pipeline.ts';
import { DASHBOARD_API } from '../../http/request/route.ts';
import type { Database } from '../../platform/db/database.ts';
import { type LoggedPath, loggedPath } from './logged-path.ts';

/** The time between two writes. */
const WRITE_EVERY_MS = 1_000;
/**
 * Of the requests of one key, so many of each kind are kept of the time between two writes: reads and
 * changes, accepted and refused. Many reads hide no change then.
 */
export const MOST_OF_KEY = 25;
/** The same for all keys of a workspace, so that one workspace leaves room to others. */
export const MOST_OF_WORKSPACE = 100;
/**
 * The most requests that wait for a write, of all keys. A row costs 44 to 66 µs of both processes on a busy
 * machine where an accepted email costs 380 (2026-11-28), so 200 a second are 2 % of what 1,500 emails a
 * second cost there.
 */
export const MOST_WAITING = 200;
/** A write that takes longer is given up, and its requests are dropped. */
const DEADLINE_MS = 5_000;

const WRITE = `insert into api_requests (id, workspace_id, livemode, api_key_id, method, route, path, status, duration_ms, error_code)
select id, workspace_id, livemode::boolean, api_key_id, method, route, path, status::smallint, duration_ms::integer, nullif(error_code, '')
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
  r(id, workspace_id, livemode, api_key_id, method, route, path, status, duration_ms, error_code)
where exists (select from workspaces w where w.id = r.workspace_id)
on conflict (id) do nothing`;

/** A request that waits to be written. */
interface LoggedRequest extends LoggedPath {
  readonly id: string;
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly apiKeyId: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly errorCode: string | null;
}

/** The keys and the lists of requests that were written to. */
export interface WrittenTo {
  readonly keys: ReadonlySet<string>;
  /** Workspace and environment, with a space between them. */
  readonly lists: ReadonlySet<string>;
}

/** The parts of the service that the recorder uses. */
export interface RecorderParts {
  readonly database: Pick<Database, 'query'>;
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** Tells open pages that there are further requests. */
  readonly noteChange: (note: ChangeNote) => void;
  /** Calls back once, after a time; `setTimeout` unless a test says otherwise. */
  readonly after?: (ms: number, work: () => void) => { unref(): void };
}

/** Why requests are in no log. */
export type DropReason = 'busy' | 'database';

/**
 * Writes the requests of API keys: gathered in memory and written by one statement a second at most, which no
 * request waits for. What finds no room, and what the database does not take, is dropped and counted.
 */
export class RequestRecorder {
  #waiting: LoggedRequest[] = [];
  /** The number of waiting requests by key and kind, and by workspace. */
  #counts = new Map<string, number>();
  #keys = new Set<string>();
  #lists = new Set<string>();
  #isTimed = false;
  #writing: Promise<void> | null = null;
  readonly dropped: Record<DropReason, number> = { busy: 0, database: 0 };

  constructor(private readonly parts: RecorderParts) {}

  /** Takes a request that was answered. */
  note(answered: AnsweredRequest): void {
    const { caller, status } = answered;
    // A session that was opened with a key is a page of the dashboard.
    if (caller.kind !== 'key' || isOfPage(answered)) return;
    const kind = `${caller.id} ${isRead(answered)} ${status < 400}`;
    const ofKey = this.#counts.get(kind) ?? 0;
    const ofWorkspace = this.#counts.get(caller.workspaceId) ?? 0;
    const isFull =
      ofKey >= MOST_OF_KEY || ofWorkspace >= MOST_OF_WORKSPACE || this.#waiting.length >= MOST_WAITING;
    if (isFull) {
      this.dropped.busy++;
      return;
    }
    this.#counts.set(kind, ofKey + 1);
    this.#counts.set(caller.workspaceId, ofWorkspace + 1);
    this.#waiting.push({
      id: answered.requestId,
      workspaceId: caller.workspaceId,
      livemode: caller.livemode,
      apiKeyId: caller.id,
      method: METHODS.has(answered.method) ? answered.method : 'OTHER',
      ...loggedPath(answered.endpoint, answered),
      status,
      durationMs: Math.round(answered.ms),
      errorCode: answered.errorCode,
    });
    this.#soon();
  }

  /** The keys and lists that were written to since the last call. */
  writtenTo(): WrittenTo {
    const written = { keys: this.#keys, lists: this.#lists };
    this.#keys = new Set();
    this.#lists = new Set();
    return written;
  }

  /** Takes back what could not be trimmed. */
  keepWrittenTo({ keys, lists }: WrittenTo): void {
    for (const key of keys) this.#keys.add(key);
    for (const list of lists) this.#lists.add(list);
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#write();
  }

  #soon(): void {
    if (this.#isTimed || this.#writing) return;
    this.#isTimed = true;
    const after = this.parts.after ?? ((ms, work) => setTimeout(work, ms));
    after(WRITE_EVERY_MS, () => {
      this.#isTimed = false;
      this.#writing = this.#write().finally(() => {
        this.#writing = null;
        if (this.#waiting.length > 0) this.#soon();
      });
    }).unref();
  }

  async #write(): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    this.#counts = new Map();
    try {
      await this.parts.database.query(
        WRITE,
        COLUMNS.map((column) => rows.map(column)),
        {
          deadlineMs: DEADLINE_MS,
          name: 'requestLog',
        },
      );
    } catch (error) {
      this.dropped.database += rows.length;
      this.parts.warn({ err: error, requests: rows.length }, 'Requests could not be written to their log');
      return;
    }
    for (const { apiKeyId, workspaceId, livemode } of rows) {
      this.#keys.add(apiKeyId);
      this.#lists.add(`${workspaceId} ${livemode}`);
    }
    for (const list of new Set(rows.map(({ workspaceId, livemode }) => `${workspaceId} ${livemode}`))) {
      const [workspaceId = '', livemode] = list.split(' ');
      const scope = { workspaceId, livemode: livemode === 'true' };
      this.parts.noteChange({ scope, resource: 'requests', permission: 'api-keys:read', id: null });
    }
  }
}

/** The methods that requests are listed by. A client may invent others. */
export const LOGGED_METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;
const METHODS: ReadonlySet<string> = new Set(LOGGED_METHODS);

const isRead = ({ method }: AnsweredRequest): boolean => method === 'GET' || method === 'HEAD';

const isOfPage = ({ endpoint, path }: AnsweredRequest): boolean =>
  endpoint ? endpoint.route.credential === 'session' : path.startsWith(`${DASHBOARD_API}/`);

/** The columns of a row in the order of the statement, as texts. */
const COLUMNS: readonly ((row: LoggedRequest) => string)[] = [
  ({ id }) => id,
  ({ workspaceId }) => workspaceId,
  ({ livemode }) => String(livemode),
  ({ apiKeyId }) => apiKeyId,
  ({ method }) => method,
  ({ route }) => route,
  ({ path }) => path,
  ({ status }) => String(status),
  ({ durationMs }) => String(durationMs),
  ({ errorCode }) => errorCode ?? '',
];
