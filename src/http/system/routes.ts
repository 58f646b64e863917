import { Type } from '@sinclair/typebox';
import type { Roster } from '../../engine/roster.ts';
import type { SchedulerHealth } from '../../engine/runtime/timers/scheduler.ts';
import { ROLES, type Roles } from '../../platform/config/roles.ts';
import type { Database } from '../../platform/db/database.ts';
import type { WriteRefusal } from '../../platform/db/refused-writes.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import type { Clock } from '../../platform/time/clock.ts';
import { zones } from '../../platform/zones/zones.ts';
import { type Route, route } from '../request/route.ts';

export interface SystemDeps {
  /** Seconds by which the event log is behind. @throws UnavailableError */
  readLogLag(): Promise<number>;
  readonly version: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly engine: { readonly scheduler: SchedulerHealth };
  /** The roles of this process, and the running processes. */
  readonly roles: Roles;
  readonly roster: Pick<Roster, 'living'>;
  /** The time of the start on the monotonic clock. */
  readonly startedAt: number;
  /** True once a stop was asked for. */
  readonly isDraining: () => boolean;
}

const Health = Type.Object(
  {
    status: Type.Literal('ok'),
    version: Type.String(),
    uptimeSeconds: Type.Integer({ minimum: 0 }),
    roles: Type.Array(Type.Union(ROLES.map((role) => Type.Literal(role))), {
      description: 'The roles of this instance (`ROLES`).',
    }),
    instances: Type.Record(
      Type.Union(ROLES.map((role) => Type.Literal(role))),
      Type.Integer({ minimum: 0 }),
      {
        description: 'The running instances of each role, as of some seconds ago.',
      },
    ),
    database: Type.Object({
      status: Type.Literal('ok'),
      latencyMs: Type.Number({ description: 'One round trip, in milliseconds.' }),
      kind: Type.Union([Type.Literal('embedded'), Type.Literal('postgres')]),
      logLagSeconds: Type.Number({
        description:
          'The delay of `GET /v1/events`: the age of the oldest open transaction that writes, in any database of the server. Later events are not shown yet.',
      }),
    }),
    scheduler: Type.Object({
      status: Type.Union(
        [Type.Literal('ok'), Type.Literal('late'), Type.Literal('paused'), Type.Literal('stopped')],
        {
          description:
            '`paused`: the clock of the database has jumped, and no work is claimed until it agrees again.',
        },
      ),
      oldestDueSeconds: Type.Number({
        description: 'The longest time for which a due email, delivery or timer has been waiting.',
      }),
      clockSkewMs: Type.Number({
        description:
          "The time by which the database's clock is ahead of this instance's time: an unexplained jump.",
      }),
      machineSkewMs: Type.Number({
        description:
          "The time by which the database's clock is ahead of this machine's clock, which logs and certificates use.",
      }),
    }),
    timeZones: Type.Object(
      {
        release: Type.String({ description: 'The release of the IANA time zone database, such as `2026f`.' }),
        source: Type.Union([Type.Literal('executable'), Type.Literal('system')]),
      },
      {
        description:
          'The source of the time zone rules of this instance: its own, or those of its machine where these are newer.',
      },
    ),
  },
  { title: 'Health' },
);

const SICK = new Failure('SERVICE_UNAVAILABLE', 'The database does not answer.', {
  suggestion: 'Retry with backoff; the service recovers automatically when the database is back.',
  retryAfterSeconds: 1,
});

const REFUSED: Readonly<Record<WriteRefusal, Failure>> = {
  full: new Failure('SERVICE_UNAVAILABLE', 'The database has no free space for writes.', {
    suggestion: 'Free disk space; the service recovers automatically.',
    retryAfterSeconds: 10,
  }),
  readOnly: new Failure(
    'SERVICE_UNAVAILABLE',
    'The database is read-only: no mail can be accepted or sent.',
    {
      suggestion:
        'Set DATABASE_URL to the primary, or make the database writable; the service recovers automatically.',
      retryAfterSeconds: 10,
    },
  ),
};

const DRAINING = new Failure('SERVICE_UNAVAILABLE', 'This instance is stopping.', {
  suggestion: 'Use another instance. Requests that were sent to this one are still answered.',
  retryAfterSeconds: 1,
});

const Ready = Type.Object(
  {
    status: Type.Literal('ready'),
    roles: Type.Array(Type.Union(ROLES.map((role) => Type.Literal(role))), {
      description: 'The roles of this instance. Without `http` it answers only `/health` and `/ready`.',
    }),
  },
  { title: 'Ready' },
);

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** The endpoints that report whether the service can work, for load balancers, containers and people. */
export const systemRoutes = ({
  readLogLag,
  version,
  database,
  clock,
  engine,
  roles,
  roster,
  startedAt,
  isDraining,
}: SystemDeps): readonly Route[] => [
  route('GET /health', {
    name: 'getHealth',
    permission: 'public',
    summary: 'Check the health of the service',
    description:
      'For load balancers and monitors: reports the database and the delay of due work. It is 503 while nothing can be accepted.',
    response: Health,
    failures: ['SERVICE_UNAVAILABLE'],
    example: {
      response: {
        status: 'ok',
        version: '0.1.0',
        uptimeSeconds: 86_400,
        roles: ['http', 'engine', 'delivery'],
        instances: { http: 2, engine: 2, delivery: 2 },
        database: { status: 'ok', latencyMs: 0.31, kind: 'embedded', logLagSeconds: 0 },
        scheduler: { status: 'ok', oldestDueSeconds: 0, clockSkewMs: 0, machineSkewMs: 0 },
        timeZones: { release: '2026f', source: 'executable' },
      },
    },
    handle: async () => {
      try {
        const [latency, logLag] = await Promise.all([database.ping(), readLogLag()]);
        if (database.refusedWrite) return REFUSED[database.refusedWrite];
        return {
          status: 'ok' as const,
          version,
          roles: [...roles],
          instances: roster.living,
          uptimeSeconds: Math.floor((clock.monotonic() - startedAt) / 1_000),
          database: {
            status: 'ok' as const,
            latencyMs: rounded(latency),
            kind: database.kind,
            logLagSeconds: rounded(logLag),
          },
          scheduler: { ...engine.scheduler, machineSkewMs: clock.agreement?.machineSkewMs ?? 0 },
          timeZones: { release: zones.release, source: zones.source },
        };
      } catch (error) {
        if (error instanceof UnavailableError) return SICK;
        throw error;
      }
    },
  }),
  route('GET /ready', {
    name: 'getReadiness',
    permission: 'public',
    summary: 'Check whether to send requests here',
    description:
      'For load balancers in front of several instances: 503 from the moment at which this instance is asked to stop, while it still answers (`DRAIN_SECONDS`), and while the database does not answer. It writes nothing and costs one round trip.',
    response: Ready,
    failures: ['SERVICE_UNAVAILABLE'],
    example: { response: { status: 'ready', roles: ['http', 'engine', 'delivery'] } },
    handle: async () => {
      if (isDraining()) return DRAINING;
      try {
        await database.ping();
        return { status: 'ready' as const, roles: [...roles] };
      } catch (error) {
        if (error instanceof UnavailableError) return SICK;
        throw error;
      }
    },
  }),
];
