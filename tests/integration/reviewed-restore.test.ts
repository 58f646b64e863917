import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../support/client.ts';
import { command } from '../support/command.ts';
import { layEmbedded } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, printed, type Service, startService } from '../support/service.ts';

// A backup knows nothing of those who left after it, and sends again what has left since. `--only http` lets
// an operator say so first.

const SECRET_KEY = 'only-for-tests-only-for-tests-only';
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-review-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const env = { SECRET_KEY, RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' };
const startIn = (name: string, ...args: string[]): Promise<Service> =>
  startService({ env, dataDir: join(home, name), args });
const captured = async (service: Service): Promise<string[]> => {
  const { body } = await createClient(service.url, LIVE_KEY).get('/v1/captured?limit=100');
  return body.data.map(({ recipient }: { recipient: string }) => recipient).sort();
};

test('a restored database is looked through before anything leaves', async () => {
  let email: string;
  let campaign: string;
  let underWay: string;
  let before: string[];
  {
    await layEmbedded(join(home, 'first'));
    await using first = await startIn('first');
    const live = createClient(first.url, LIVE_KEY);
    await live.post('/v1/domains', { name: 'sender.example' });
    const { body: audience } = await live.post('/v1/audiences', { name: 'All' });
    for (const name of ['ann', 'bob', 'cyd']) {
      const { body } = await live.post('/v1/contacts', { email: `${name}@example.com` });
      await live.post(`/v1/audiences/${audience.data.id}/contacts`, { contactIds: [body.data.id] });
    }
    const content = { from: 'news@sender.example', subject: 'Hello', html: '<p>Hi.</p>' };
    const made = await live.post('/v1/campaigns', { ...content, name: 'News', audienceId: audience.data.id });
    campaign = made.body.data.id;
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await live.post(`/v1/campaigns/${campaign}/send`, { scheduledAt });
    expect(sent.body.data?.status).toBe('scheduled');
    const accepted = await live.post('/v1/emails', { ...content, to: 'dan@example.com', scheduledAt });
    email = accepted.body.data.id;
    // One an hour: this one is under way.
    const slow = await live.post('/v1/campaigns', {
      ...content,
      name: 'Slow',
      audienceId: audience.data.id,
      ratePerHour: 1,
    });
    underWay = slow.body.data.id;
    await live.post(`/v1/campaigns/${underWay}/send`);
    await eventually('its first email', async () => (await captured(first)).length === 1 || undefined);
    before = await captured(first);
    await first.stop();
  }
  const backup = join(home, 'backup');
  const key = { SECRET_KEY };
  expect((await command({ ...key, DATA_DIR: join(home, 'first') }, 'backup', backup)).code).toBe(0);
  expect((await command({ ...key, DATA_DIR: join(home, 'second') }, 'restore', backup)).code).toBe(0);
  {
    await using review = await startIn('second', '--only', 'http');
    const live = createClient(review.url, LIVE_KEY);
    await printed(review, /Nothing is sent/);
    const accepted = await live.post('/v1/emails', {
      from: 'news@sender.example',
      to: 'eve@example.com',
      subject: 'At once',
      text: 'Hello.',
    });
    expect(accepted.status).toBe(202);
    await live.post('/v1/suppressions', { address: 'ann@example.com', reason: 'unsubscribed' });
    expect((await live.delete(`/v1/emails/${email}`)).body.data.status).toBe('cancelled');
    expect((await live.post(`/v1/campaigns/${campaign}/unschedule`)).body.data.status).toBe('draft');
    expect((await live.post(`/v1/campaigns/${campaign}/send`)).body.data.status).toBe('preparing');
    expect((await live.post(`/v1/campaigns/${underWay}/pause`)).body.data.status).toBe('paused');
    expect(await captured(review)).toEqual(before);
    await review.stop();
  }
  {
    await using whole = await startIn('second');
    const rest = ['bob@example.com', 'cyd@example.com', 'eve@example.com'];
    await eventually(
      'the rest leaves',
      async () => (await captured(whole)).length > rest.length || undefined,
    );
    expect(await captured(whole)).toEqual([...before, ...rest].sort());
    expect((await createClient(whole.url, LIVE_KEY).get(`/v1/campaigns/${underWay}`)).body.data.status).toBe(
      'paused',
    );
  }
});
