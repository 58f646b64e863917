import { expect, test } from 'bun:test';
import { CASES } from '../failure/report-servers/cases.ts';
import { SERVER_NAMES } from '../failure/report-servers/servers.ts';
import { REPORTS, reportsIn, rightFor, verdictOnFile } from '../support/reports-of-servers.ts';

// Reports that seven real servers wrote (tests/failure/report-servers-long.ts collects them again).

const reports = reportsIn(REPORTS);

test('reports of every server are there, and of every case', () => {
  expect([...new Set(reports.map(({ server }) => server))]).toEqual(SERVER_NAMES.toSorted());
  expect([...new Set(reports.map(({ about }) => about))].toSorted()).toEqual(Object.keys(CASES).toSorted());
  expect(reports.filter(({ isWarning }) => isWarning).length).toBeGreaterThan(5);
});

for (const report of reports)
  test(`${report.file}: ${rightFor(report)}`, async () => {
    const { verdict, message } = await verdictOnFile(REPORTS, report);
    expect(verdict).toBe(rightFor(report) as string);
    // The words of the receiving server are kept, whichever part of the report has them.
    const { rcpt, dot, to } = CASES[report.about] as (typeof CASES)[string];
    const said = (rcpt ?? dot)?.replaceAll('$to', to);
    const isPlainEnd = report.about === 'later' && (report.server === 'dma' || report.server === 'opensmtpd');
    if (message !== null && said !== undefined && !isPlainEnd) expect(message).toContain(said);
  });
