import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { begin } from '../../src/mail/transport/begin.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { faultsOf } from '../support/audited.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// An email of a campaign whose attempt brought no reply, and of which nothing is sent any more.

const HALF_AN_HOUR = 1_800_000;
const DOUBTED = 'doubted';

/** Of some it never learns whether the server has them; all others are put off. */
const way = {
  name: 'smtp',
  confirmsDelivery: true,
  async send({ recipients: [to = ''] }, limits) {
    await begin(limits);
    return [withoutReply(to, to.startsWith(DOUBTED) ? 'unknown' : 'deferred', 'No reply', 'General')];
  },
  verify: async () => [],
  close: async () => {},
} satisfies Transport;

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('an email of a campaign, on %s,', (_, environment) => {
  let service: LiveService;
  beforeAll(async () => {
    service = await startLiveService({
      environment,
      transport: way,
      atNoon: true,
      schedule: { backoffMs: [HALF_AN_HOUR] },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;

  /** The ways by which nothing more is sent, and the reason shown for a recipient who surely got nothing. */
  const ENDS: Readonly<Record<string, { readonly reason: string; readonly words: string }>> = {
    'when its campaign is cancelled': { reason: 'cancelled', words: 'its campaign had been cancelled' },
    'when its recipient is suppressed': {
      reason: 'suppressed',
      words: 'the address was suppressed manually',
    },
    'when its recipient is deleted': { reason: 'forgotten', words: 'the contact was deleted' },
  };
  for (const [end, { reason, words }] of Object.entries(ENDS))
    test(`whose outcome is unknown ends in doubt ${end}, and is counted so`, async () => {
      const { live } = service;
      const audience = (await live.post('/v1/audiences', { name: 'Letter' })).body.data;
      const emails = [`${DOUBTED}-${reason}@people.example`, `put-off-${reason}@people.example`];
      for (const email of emails) await live.post('/v1/contacts', { email });
      await live.post('/v1/contacts', { email: `third-${reason}@people.example` });
      const all = [...emails, `third-${reason}@people.example`];
      await live.post(`/v1/audiences/${audience.id}/contacts`, { emails: all });
      const { id } = (
        await live.post('/v1/campaigns', {
          name: 'News',
          audienceId: audience.id,
          from: 'News <news@sender.example>',
          subject: 'News',
          html: '<p>Hello</p>',
          // Two of three are given out, so that there is a campaign left to cancel.
          canary: { percent: 50, holdMinutes: 600, maxBounceRate: 100, maxComplaintRate: 100 },
        })
      ).body.data;
      await live.post(`/v1/campaigns/${id}/send`, {});
      const given: Email[] = await eventually('two had an attempt', async () => {
        const found: Email[] = await get(`/v1/emails?campaignId=${id}&status=deferred`);
        return found.length === 2 ? found : undefined;
      });
      if (reason === 'cancelled') {
        await live.post(`/v1/campaigns/${id}/pause`);
        expect((await live.post(`/v1/campaigns/${id}/cancel`)).status).toBe(200);
      }
      if (reason === 'suppressed')
        for (const address of emails) await live.post('/v1/suppressions', { address });
      const contacts = await Promise.all(emails.map((email) => get(`/v1/contacts/${email}`)));
      if (reason === 'forgotten')
        for (const contact of contacts) await live.delete(`/v1/contacts/${contact.id}`);
      await service.pass(HALF_AN_HOUR + 1_000);
      for (const email of given) await service.until(email.id, ({ status }) => status === 'failed');
      expect(await get(`/v1/campaigns/${id}/stats`)).toMatchObject({
        total: 3,
        sent: 0,
        remaining: 1,
        skipped: 1,
        failed: 1,
        inDoubt: 1,
      });
      const rows: Email[] = await get(`/v1/campaigns/${id}/recipients`);
      const told = contacts.map((contact) => rows.find(({ contactId }) => contactId === contact.id));
      expect(told.map(({ outcome, reason: why }) => [outcome, why])).toEqual([
        ['failed', 'in_doubt'],
        ['skipped', reason],
      ]);
      const summaries = await Promise.all(
        told.map(async ({ emailId }) => (await get(`/v1/emails/${emailId}/explain`)).summary),
      );
      expect(summaries).toEqual([
        `It may have arrived at one recipient: an attempt ended without a reply, and it was not sent again: ${words}.`,
        `No recipient got it: ${words}.`,
      ]);
      expect(await faultsOf(service)).toEqual([]);
    });
});
