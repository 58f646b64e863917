import type { ReplicatedReads } from '../../platform/db/replica/replicated-reads.ts';
import type { Metrics } from '../../platform/telemetry/metrics.ts';

/** Shows how the replicas of `DATABASE_READ_URL` do, and who answers what they are there for. */
export function countReplicas(metrics: Metrics, reads: Pick<ReplicatedReads, 'states' | 'counts'>): void {
  metrics.watch(
    'posthorn_replica_reads_total',
    'Reads that a replica may answer, by what became of them: replica, or why the primary answered.',
    ['answered'],
    () => [...reads.counts].map(([answered, value]) => ({ labels: { answered }, value })),
  );
  metrics.watch('posthorn_replica_usable', 'Whether a replica is read from.', ['server'], () =>
    reads.states.map(({ server, reason }) => ({ labels: { server }, value: reason === null ? 1 : 0 })),
  );
  metrics.watch(
    'posthorn_replica_wait_seconds',
    'How long the last read waited until the replica had replayed what the primary had.',
    ['server'],
    () => reads.states.map(({ server, waitedMs }) => ({ labels: { server }, value: waitedMs / 1_000 })),
  );
}
