import { afterAll, beforeAll, expect, test } from 'bun:test';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';
import { sameBytes } from './same-bytes.ts';

let service: LiveService;
let smtpPort: number;
beforeAll(async () => {
  smtpPort = await freePort();
  service = await startLiveService({
    environment: { SUBMISSION_PORT: String(smtpPort), RATE_LIMIT_PREVIEW: '0', TEST_SENDS_PER_DAY: '0' },
  });
});
afterAll(() => service[Symbol.asyncDispose]());

// tests/failure/generated-templates-long.ts does it with 500.
test('40 generated templates give the same bytes on every way, and an old version what it gave', async () => {
  const { compared, differences } = await sameBytes(service, { smtpPort, from: 0, count: 40, others: 1 });
  expect(differences).toEqual([]);
  expect(compared).toBe(40 * 2 * 9);
});
