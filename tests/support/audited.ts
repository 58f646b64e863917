import type { Fault } from '../../src/engine/audit/findings.ts';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { eventually } from './eventually.ts';
import type { LiveService } from './live-service.ts';

/**
 * The findings of an audit of a service that goes on meanwhile. On a server it reads one moment, in which
 * only a timer may be late: behind a clock that was moved the service needs a while. An embedded database has
 * no second connection, and its statements see several moments: there what goes by itself is no fault.
 */
export async function faultsOf({ service, databaseUrl }: LiveService): Promise<readonly Fault[]> {
  const { database, clock } = service;
  const isOnServer = database.kind === 'postgres';
  let found: readonly Fault[] = [];
  const isOver = async (): Promise<true | undefined> => {
    const session = isOnServer
      ? await openSession({ url: databaseUrl, dataDir: null })
      : { query: database.query.bind(database), close: async () => {} };
    try {
      found = (await auditLedger(session, clock.now())).named;
    } finally {
      await session.close();
    }
    const mayPass = found.every(({ check }) => !isOnServer || check === 'overdue');
    return found.length === 0 || !mayPass || undefined;
  };
  await eventually('a sound ledger', isOver, { withinMs: 20_000 }).catch(() => {});
  return found;
}
