import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS, type Check, type Findings } from '../../../engine/audit/findings.ts';
import { openSession } from '../../../engine/audit/session.ts';
import { openBodyStoreAlone } from '../../../platform/bodies/open.ts';
import type { Config } from '../../../platform/config/config.ts';
import { readClock } from '../../../platform/time/database-clock.ts';
import { auditLedger } from '../../audit/audit.ts';
import type { Terminal } from '../terminal.ts';

/** `posthorn audit` checks the ledger of the configured database and exits with 1 when anything disagrees. */
export async function runAudit(config: Config, since: number, terminal: Terminal): Promise<number> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === null && !existsSync(join(dataDir, 'postgres'))) {
    terminal.error(`There is no database in ${dataDir}.\n`);
    return 1;
  }
  const begin = performance.now();
  const session = await openSession({ url: databaseUrl, dataDir });
  let findings: Findings;
  try {
    findings = await auditLedger(session, (await readClock(session)).at, {
      since,
      bodies: await openBodyStoreAlone(config),
    });
  } finally {
    await session.close();
  }
  terminal.out(auditReport(findings, performance.now() - begin));
  return findings.total === 0 ? 0 : 1;
}

/** The report of an audit: a line for each check, then the rows that disagree. */
export function auditReport(findings: Findings, ms: number): string {
  const checks = Object.entries(CHECKS) as [Check, string][];
  const width = Math.max(...checks.map(([, sentence]) => sentence.length));
  const number = (value: number) => value.toLocaleString('en').padStart(12);
  const lines = [
    `  ${' '.repeat(width)}${'checked'.padStart(12)}${'wrong'.padStart(12)}`,
    ...checks.map(([check, sentence]) => {
      const wrong = findings.wrongOf(check);
      return `${wrong === 0 ? '✓' : '✗'} ${sentence.padEnd(width)}${number(findings.lookedAt(check))}${number(wrong)}`;
    }),
    '',
    ...findings.named.map(({ check, id, what }) => `${check}: ${id} ${what}`),
  ];
  const unnamed = findings.total - findings.named.length;
  if (unnamed > 0) lines.push(`… and ${unnamed.toLocaleString('en')} more.`);
  lines.push(
    ...findings.notes,
    `${findings.total === 0 ? 'No faults' : `${findings.total.toLocaleString('en')} faults`}, read in ${(ms / 1_000).toFixed(1)} s.`,
  );
  return `${lines.join('\n')}\n`;
}
