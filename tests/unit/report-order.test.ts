import { expect, test } from 'bun:test';
import { takeReport } from '../../src/sending/reports/commands.ts';

test('a report about domains of others costs no check of its sender', async () => {
  const receiving = { id: 'dom_1', workspaceId: 'ws_1', name: 'shop.example' };
  const counted: unknown[] = [];
  const database = {
    async query(text: string, parameters: readonly unknown[]) {
      if (text.includes('unverified_reports')) counted.push(parameters[0]);
      return text.includes('d.return_path = $1') ? [receiving] : [];
    },
  };
  const policy = { domain: 'elsewhere.example', p: null, isTesting: false };
  const row = { source: '192.0.2.1', messages: 1, disposition: 'none', from: 'elsewhere.example' };
  const report = { kind: 'dmarc', id: '1', organization: '', day: '2026-11-24', policy, rows: [row] };
  let checks = 0;
  await takeReport(
    {
      database: database as never,
      now: () => 0,
      mailReader: { aggregate: async () => report as never },
      senderChecks: {
        check: async () => {
          checks++;
          throw new Error('No sender is checked.');
        },
      },
    },
    {
      raw: Buffer.from(''),
      recipients: ['dmarc@shop.example'],
      client: '192.0.2.9',
      helo: 'x',
      from: '',
    },
  );
  expect([checks, counted]).toEqual([0, [['dom_1']]]);
});
