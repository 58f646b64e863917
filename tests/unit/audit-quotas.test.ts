import { expect, test } from 'bun:test';
import type { EmailContext } from '../../machines/email/context.ts';
import type { EmailState } from '../../machines/email/machine.ts';
import { Findings } from '../../src/engine/audit/findings.ts';
import { QuotaLedger } from '../../src/engine/audit/quotas.ts';
import type { Session } from '../../src/engine/audit/session.ts';

const NOVEMBER = Date.parse('2026-11-30T12:00:00.000Z');
const DECEMBER = NOVEMBER + 86_400_000;
const WORKSPACE = 'ws_audited';

/** The findings for that number of counted units, one sent email and the others. */
async function wrongWith(used: number, ...cancelledAt: readonly number[]): Promise<number> {
  const ledger = new QuotaLedger({ test: 0, live: 0 }, 0);
  const count = (state: EmailState, at: number) =>
    ledger.count({
      workspaceId: WORKSPACE,
      livemode: true,
      state,
      context: { acceptedAt: NOVEMBER, at } as EmailContext,
    });
  count('sent', NOVEMBER);
  for (const at of cancelledAt) count('cancelled', at);
  const rows = [{ workspace_id: WORKSPACE, livemode: true, period: '2026-11', used }];
  const session = { query: async () => rows, close: async () => {} } as unknown as Session;
  const findings = new Findings();
  await ledger.compare(session, findings);
  return findings.named.length;
}

test('what was cancelled in its month has given its unit back', async () => {
  expect(await Promise.all([0, 1, 2].map((used) => wrongWith(used, NOVEMBER + 1)))).toEqual([1, 0, 1]);
});

test('what was cancelled after its month may have kept its unit, as by earlier versions', async () => {
  expect(await Promise.all([0, 1, 2, 3].map((used) => wrongWith(used, DECEMBER)))).toEqual([1, 0, 0, 1]);
});
