import { join } from 'node:path';
import { openPack } from '../../src/web/dashboard/pack.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { startService, TEST_KEY } from '../support/service.ts';
import { openChromium } from './chromium.ts';

// Takes docs/images/live-view.png again, of a service that has sent some two hundred emails: run it when the
// live view looks different than on the picture.

const OUTPUT = join(import.meta.dir, '../../docs/images/live-view.png');
const SENT = { delivered: 120, opened: 20, clicked: 11, 'bounced-transient': 9, bounced: 6, complained: 2 };
const HOUR_MS = 3_600_000;

await openPack();
await using service = await startService({
  env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0', TEST_SENDS_PER_DAY: '0' },
});
const api = createClient(service.url, TEST_KEY);

async function send(outcome: string, more: object = {}): Promise<string> {
  const to = `${outcome}@simulator.svc.test`;
  const email = {
    from: 'shop@example.com',
    to,
    subject: 'Your order has shipped',
    text: 'It is on its way.',
  };
  const { status, body } = await api.post('/v1/emails', { ...email, ...more });
  if (status !== 202) throw new Error(`${to} was answered with ${status}.`);
  return body.data.id;
}

for (const [outcome, count] of Object.entries(SENT))
  for (let sent = 0; sent < count; sent++) await send(outcome);
const scheduledAt = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
for (let hours = 1; hours <= 20; hours++) await send('delivered', { scheduledAt: scheduledAt(hours) });
for (let hours = 1; hours <= 3; hours++) {
  const id = await send('delivered', { scheduledAt: scheduledAt(hours) });
  await api.delete(`/v1/emails/${id}`);
}
const deferred = await send('deferred');
await eventually(
  'the retries',
  async () => (await api.get(`/v1/emails/${deferred}`)).body.data.status === 'delivered' || undefined,
  { withinMs: 60_000 },
);

const browser = await openChromium();
const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
await page.goto(`${service.url}/inspector?kind=email&id=${deferred}`);
await page.getByLabel('API key').fill(TEST_KEY);
await page.keyboard.press('Enter');
await page.locator('[data-life-state]', { hasText: 'delivered' }).waitFor();
await page.locator('[data-count=cancelled]', { hasText: '3' }).waitFor();
await page.locator('.line-group.taken').first().waitFor();
// The diagram is fitted again when the scrubber beneath it has appeared.
const isFitted = `document.querySelector('[data-state=failed]').getBoundingClientRect().bottom <
  document.querySelector('.react-flow').getBoundingClientRect().bottom`;
await eventually('the fitted diagram', async () => (await page.evaluate(isFitted)) === true || undefined);
await page.screenshot({ path: OUTPUT, animations: 'disabled' });
await browser.close();
console.log(`Wrote ${OUTPUT}.`);
