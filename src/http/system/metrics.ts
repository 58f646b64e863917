import type { Server } from 'bun';
import type { Note, RecordedEvent } from '../../../machines/email/recipient.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Draft } from '../../engine/machine/draft.ts';
import type { Roster } from '../../engine/roster.ts';
import { ROLES, type Role, type Roles } from '../../platform/config/roles.ts';
import { openPort } from '../../platform/errors/port-not-opened.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';

/** Counts the commits of the engine from now on. */
export function countEngine(metrics: Metrics, engine: Engine): void {
  engine.listen((kind, drafts) => {
    metrics.commit(kind.name, drafts.length);
    for (const draft of drafts) {
      for (const { event, from, to } of draft.steps)
        metrics.transition(kind.name, from === null ? 'spawned' : event, to, draft.after.livemode);
      if (kind.name === 'email') countAttempt(metrics, draft);
    }
  });
  const byKind = (read: (traffic: Engine['traffic'][number]) => number) => () =>
    engine.traffic.map((traffic) => ({ labels: { kind: traffic.kind }, value: read(traffic) }));
  metrics.watch(
    'posthorn_engine_waiting',
    'Events and new actors that wait for their commit.',
    ['kind'],
    byKind(({ waiting }) => waiting),
  );
  metrics.watch(
    'posthorn_engine_lost_races_total',
    'Changes that were decided again, because another instance or batch was first.',
    ['kind'],
    byKind(({ lostRaces }) => lostRaces),
  );
  metrics.watch(
    'posthorn_engine_due_lag_seconds',
    'The longest time for which a due actor has been waiting.',
    [],
    () => [{ labels: {}, value: engine.scheduler.oldestDueSeconds }],
  );
}

/** Shows the roles of this process, and how many processes have each. */
export function countInstances(
  metrics: Metrics,
  own: Roles,
  roster: Pick<Roster, 'hearsAll' | 'living'>,
): void {
  const byRole = (read: (role: Role) => number) => () =>
    ROLES.map((role) => ({ labels: { role }, value: read(role) }));
  metrics.watch(
    'posthorn_role',
    'The roles of this process: 1 for each role that it has.',
    ['role'],
    byRole((role) => (own.includes(role) ? 1 : 0)),
  );
  metrics.watch(
    'posthorn_living_instances',
    'Running processes on this database, seen within the last 35 seconds.',
    ['role'],
    byRole((role) => roster.living[role]),
  );
  metrics.watch(
    'posthorn_hears_instances',
    '1 while this process needs no looks for the work of others: it is alone, or hears of it by LISTEN. 0 while it looks every second.',
    [],
    () => [{ labels: {}, value: roster.hearsAll ? 1 : 0 }],
  );
}

/**
 * Counts the outcomes of one attempt. Accepted and refused recipients have an event; the others are in the
 * note of the attempt.
 */
function countAttempt(metrics: Metrics, { steps, effects, after: { livemode } }: Draft): void {
  const isAttempt = steps.some(({ event }) => event === 'attempt.completed');
  for (const { type, params } of effects) {
    if (type === 'record')
      for (const event of (params as { readonly events: readonly RecordedEvent[] }).events) {
        metrics.event(event.type, livemode);
        if (event.type === 'sent') metrics.outcome('accepted', livemode);
        // A bounce that is reported later is no outcome of an attempt.
        if (isAttempt && event.type === 'bounced') metrics.outcome('refused', livemode);
      }
    if (type === 'note')
      for (const { outcome } of (params as { readonly outcomes: readonly Note[] }).outcomes)
        if (outcome !== 'returned') metrics.outcome(outcome, livemode);
  }
}

/** Serves the metrics to Prometheus until the caller stops the server. */
export function openMetricsServer(
  metrics: Metrics,
  { hostname, port }: { readonly hostname: string; readonly port: number },
): Server<undefined> {
  const serve = () =>
    Bun.serve({
      hostname,
      port,
      development: false,
      async fetch(request) {
        if (new URL(request.url, 'http://localhost').pathname !== '/metrics')
          return new Response('Metrics are at /metrics.\n', { status: 404 });
        return new Response(await metrics.text(), {
          headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        });
      },
    });
  return openPort({ hostname, port }, serve);
}
