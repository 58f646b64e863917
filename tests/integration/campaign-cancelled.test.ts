import { afterAll, beforeAll, expect, test } from 'bun:test';
import { begin } from '../../src/mail/transport/begin.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// The accepted emails of a campaign that is cancelled.

/** The first ones are put off, the next begin and wait, and all others wait before they begin. */
const PUT_OFF = 2;
const BEGUN = 2;
const PEOPLE = 12;
const HALF_AN_HOUR = 1_800_000;

const open = Promise.withResolvers<void>();
const told: string[] = [];
const way = {
  name: 'smtp',
  confirmsDelivery: true,
  async send({ recipients: [to = ''] }, limits) {
    const place = told.push(to);
    const reply = withoutReply(to, 'deferred', 'later', 'General');
    if (place > PUT_OFF + BEGUN) await open.promise;
    await begin(limits);
    if (place <= PUT_OFF) return [reply];
    await open.promise;
    return [{ ...reply, outcome: 'accepted' as const, fault: null, subType: null }];
  },
  verify: async () => [],
  close: async () => {},
} satisfies Transport;

let service: LiveService;
beforeAll(async () => {
  service = await startLiveService({
    // Twice as many leave at once, since no other mail does.
    transport: way,
    limits: { bulkSlots: PEOPLE / 2 },
    atNoon: true,
    // A deferred email must not come again before the test moves the clock, however long it takes.
    schedule: { backoffMs: [HALF_AN_HOUR] },
  });
});
afterAll(() => {
  open.resolve();
  return service[Symbol.asyncDispose]();
});

const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
const used = async (): Promise<number> => (await get('/v1/workspace')).usage.emailsSent;

test('one that had not begun to leave is cancelled and costs nothing; one that had begun stays what it was', async () => {
  const { live, service: running } = service;
  const [workspace] = await running.database.query<{ id: string }>('select id from workspaces');
  const audienceId = await manyPeople(running.database, workspace?.id ?? '', PEOPLE);
  const made = await live.post('/v1/campaigns', {
    name: 'News',
    audienceId,
    from: 'News <news@sender.example>',
    subject: 'Hello',
    html: '<p>Hello <a href="{{ preferencesUrl }}">Choose</a></p>',
  });
  const { id } = made.body.data;
  const before = await used();
  expect((await live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  const stats = (what: string, is: (stats: Email) => boolean): Promise<Email> =>
    eventually(what, async () => {
      const found = await get(`/v1/campaigns/${id}/stats`);
      expect(found.total).toBe(found.sent + found.remaining + found.skipped + found.failed);
      return is(found) ? found : undefined;
    });
  await stats('all are given out', ({ sent }) => sent === PEOPLE);
  const ofStatus = (status: string): Promise<Email[]> => get(`/v1/emails?campaignId=${id}&status=${status}`);
  await eventually('all have come to the transport, and two are put off', async () => {
    const count = async (status: string) => (await ofStatus(status)).length;
    const isSo = (await count('deferred')) === PUT_OFF && (await count('sending')) === BEGUN;
    return (isSo && told.length === PEOPLE) || undefined;
  });
  expect(await used()).toBe(before + PEOPLE);

  expect((await live.post(`/v1/campaigns/${id}/pause`)).status).toBe(200);
  expect((await live.post(`/v1/campaigns/${id}/cancel`)).body.data.status).toBe('cancelled');
  // The state of a campaign is remembered for a fifth of a second; later emails do not begin.
  const cancelledAt = performance.now();
  await eventually(
    'no instance takes it for one that sends',
    () => performance.now() > cancelledAt + 300 || undefined,
  );
  open.resolve();

  const withdrawn = PEOPLE - PUT_OFF - BEGUN;
  expect(await stats('those are skipped', ({ skipped }) => skipped === withdrawn)).toMatchObject({
    total: PEOPLE,
    sent: PUT_OFF + BEGUN,
    remaining: 0,
    failed: 0,
  });
  await eventually(
    'what had begun arrives',
    async () => (await ofStatus('delivered')).length === BEGUN || undefined,
  );
  const cancelled = await ofStatus('cancelled');
  expect(cancelled).toHaveLength(withdrawn);
  expect(await used()).toBe(before + PUT_OFF + BEGUN);
  const skipped: Email[] = await get(`/v1/campaigns/${id}/recipients?outcome=skipped`);
  expect(new Set(skipped.map(({ reason }) => reason))).toEqual(new Set(['cancelled']));
  expect(skipped.map(({ emailId }) => emailId).toSorted()).toEqual(
    cancelled.map((email) => email.id).toSorted(),
  );
  const one = cancelled[0].id;
  expect(await get(`/v1/emails/${one}`)).toMatchObject({
    status: 'cancelled',
    failureReason: null,
    events: [],
  });
  const { evidence } = await get(`/v1/emails/${one}/explain`);
  expect(evidence.at(-1).text).toBe(
    'Its campaign was cancelled before an attempt had begun; nothing was sent.',
  );
  const again = await live.delete(`/v1/emails/${one}`);
  expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);

  // One that a server has put off had its attempt: it ends without another, and stays counted.
  await service.pass(2 * HALF_AN_HOUR);
  await stats('those are skipped as well', (found) => found.skipped === withdrawn + PUT_OFF);
  const failed = await ofStatus('failed');
  expect(failed.map(({ failureReason }) => failureReason)).toEqual(Array(PUT_OFF).fill('suppressed'));
  expect(await used()).toBe(before + PUT_OFF + BEGUN);

  const session = {
    query: running.database.query.bind(running.database),
    close: async () => {},
  };
  const findings = await auditLedger(session as never, Date.now());
  expect(findings.named).toEqual([]);
});
