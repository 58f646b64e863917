import type { ReplicatedReads } from '../../platform/db/replica/replicated-reads.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';

/** Shows how the replicas of `DATABASE_READ_URL` do, and who answers what they are there for. */
export function countReplicas(metrics: Metrics, reads: Pick<ReplicatedReads, 'states' | 'counts'>): void {
  metrics.watch(
    'posthorn_replica_reads_total',
    'Reads that a replica may answer, by result: replica, or the reason for using the primary.',
    ['answered'],
    () => [...reads.counts].map(([answered, value]) => ({ labels: { answered }, value })),
  );
  metrics.watch('posthorn_replica_usable', '1 when a replica is read from.', ['server'], () =>
    reads.states.map(({ server, reason }) => ({ labels: { server }, value: reason === null ? 1 : 0 })),
  );
  metrics.watch(
    'posthorn_replica_wait_seconds',
    'The time for which the last read waited until the replica had caught up with the primary.',
    ['server'],
    () => reads.states.map(({ server, waitedMs }) => ({ labels: { server }, value: waitedMs / 1_000 })),
  );
}
