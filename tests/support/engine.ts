import pino from 'pino';
import type { EmailEvent, EmailInput } from '../../machines/email/context.ts';
import { apiKeys } from '../../src/accounts/api-keys/kind.ts';
import { Engine } from '../../src/engine/engine.ts';
import type { Performer } from '../../src/engine/runtime/performers.ts';
import type { SpawnRequestOf } from '../../src/engine/runtime/spawn-queue.ts';
import type { LeaseTimes } from '../../src/engine/store/local-leases.ts';
import type { Database, Parameter } from '../../src/platform/db/database.ts';
import type { Shards } from '../../src/platform/db/distribution/shards.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import type { Clock } from '../../src/platform/time/clock.ts';
import { emails } from '../../src/sending/emails/kind.ts';
import { embeddedDatabase } from './embedded.ts';
import { createTestDatabase } from './postgres.ts';

/** A wall clock that moves only by the test; the monotonic one is real, so that waits end. */
export class ManualClock implements Clock {
  constructor(public time: number) {}

  now = (): number => this.time;
  monotonic = (): number => performance.now();
}

/** Nothing is performed: the test sends the outcomes. */
export const idle: Performer = { slots: 1_000, backlog: 4_000, perform: () => [] };

/** An engine of the service's kinds, which the test moves. */
export interface EngineOptions {
  readonly clock?: Clock;
  readonly performer?: Performer;
  readonly keptActors?: number;
  readonly shards?: Shards | null;
  /** When instances count as gone. */
  readonly keeping?: Partial<LeaseTimes>;
  /** The epoch under which it holds actors. */
  readonly epoch?: () => number | null;
  /** Hears of errors and warnings. */
  readonly logged?: (message: string) => void;
}

/** An engine over the database, its clock not started. */
export function engineOver(database: Database, options: EngineOptions = {}): Engine {
  const write = (line: string): void => options.logged?.(line);
  return new Engine({
    database,
    clock: options.clock ?? { now: Date.now, monotonic: () => performance.now() },
    logger: pino({ level: options.logged ? 'warn' : 'silent' }, { write }),
    kinds: [apiKeys, emails(options.performer ?? idle)],
    ...(options.keptActors === undefined ? {} : { keptActors: options.keptActors }),
    shards: options.shards ?? null,
    ...(options.keeping ? { keeping: options.keeping } : {}),
    epoch: options.epoch,
  });
}

/** A migrated database of either kind. */
export interface Store extends AsyncDisposable {
  readonly database: Database;
  /** Of the server; null for the embedded one. */
  readonly url: string | null;
}

/** PGlite in memory. */
export async function embeddedStore(): Promise<Store> {
  const database = await embeddedDatabase();
  return { database, url: null, [Symbol.asyncDispose]: () => database.close() };
}

/** A separate database on the real server. */
export async function postgresStore(): Promise<Store> {
  const made = await createTestDatabase();
  // Tests fill tables by single statements, which take seconds on a slow machine.
  const database = await PostgresDatabase.open(made.url, 60);
  return {
    database,
    url: made.url,
    async [Symbol.asyncDispose]() {
      await database.close();
      await made.close();
    },
  };
}

/** The one workspace of a test; emails need no row of it. */
export const WORKSPACE = 'ws_test';
export const LIVE = { workspaceId: WORKSPACE, livemode: true };
export const TEST = { workspaceId: WORKSPACE, livemode: false };

/** An email to be, with as many recipients as its input has. */
export function emailSpawn(
  input: EmailInput,
  more: Partial<SpawnRequestOf<'email'>> = {},
): SpawnRequestOf<'email'> & { readonly id: string } {
  const id = mintId('em', input.at);
  const recipients = input.recipients.map((_, index) => `r${index}@example.com`);
  return {
    workspaceId: WORKSPACE,
    livemode: input.livemode,
    input,
    columns: {
      recipients,
      recipient_keys: recipients,
      sender_key: 'sender@example.com',
      subject: 'A test',
      tags: [],
      envelope: {},
      content: 'e30=',
    },
    id,
    ...more,
  };
}

/** The beginning of an immediate test email to one recipient. */
export const plainInput = (at: number, more: Partial<EmailInput> = {}): EmailInput => ({
  at,
  livemode: false,
  scheduledAt: null,
  admitted: true,
  leaseMs: 10_000,
  patienceMs: 3_600_000,
  backoffMs: [1_000, 2_000],
  recipients: [{ simulate: null }],
  ...more,
});

/** A report about the first recipient. Opens may be told any number of times, and each counts. */
export const opened = (at: number, data: Readonly<Record<string, unknown>> = {}): EmailEvent => ({
  type: 'report.received',
  at,
  report: { type: 'opened', recipient: 0, data },
});

/** The outcome of an attempt: accepted for the first recipient. */
export const accepted = (at: number, attempt = 1): EmailEvent => ({
  type: 'attempt.completed',
  at,
  attempt,
  outcomes: [{ recipient: 0, outcome: 'accepted', data: {} }],
});

/** An event that no email takes: a forged timer, or what only another version would send. */
export const foreign = (type: string, at: number): EmailEvent => ({ type, at }) as unknown as EmailEvent;

/** Rows of a table of the test's database. */
export const rowsOf = <Row extends object>(
  database: Database,
  sql: string,
  parameters: readonly Parameter[] = [],
): Promise<Row[]> => database.query<Row>(sql, parameters);

/** The number that a `select count(*)` answers. */
export async function countOf(
  database: Database,
  from: string,
  parameters: readonly Parameter[] = [],
): Promise<number> {
  const [row] = await database.query<{ n: number }>(`select count(*)::integer as n from ${from}`, parameters);
  return row?.n as number;
}
