import { describe, expect, test } from 'bun:test';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import { type LimitedSmtp, type ServerLimits, startLimitedSmtp } from '../support/limited-smtp.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

/** A server that mail has to wait for, once it has taken the first ones. */
interface Case {
  readonly first: number;
  /**
   * The people of a campaign: more than are given out while the server has no room for them, and few where
   * each waits for a turn.
   */
  readonly people: number;
  /** `over` settles when it takes mail again. */
  limits(over: Promise<void>): ServerLimits;
}

const CASES: Readonly<Record<string, Case>> = {
  'refuses for its rate': {
    // Too few to learn a rate from, which the rest would then keep to.
    first: 9,
    people: 3,
    limits: () => ({
      rate: {
        most: 9,
        windowMs: 600_000,
        refusal: { at: 'mail', reply: '454 Throttling failure: Maximum sending rate exceeded.' },
      },
    }),
  },
  'has its only session in use': {
    first: 1,
    people: 60,
    limits: (holds) => ({
      connections: {
        most: 1,
        refusal: { at: 'connect', how: 'greeting', reply: '421 4.7.0 Too many connections' },
      },
      holds,
    }),
  },
  'takes no mail over a second session': {
    first: 1,
    people: 60,
    limits: (holds) => ({
      connections: { most: 1, refusal: { at: 'mail', reply: '451 4.7.1 Please try again later' } },
      holds,
    }),
  },
};

interface Evidence {
  readonly text: string;
}

const evidenceOf = async (service: LiveService, id: string): Promise<readonly string[]> =>
  (await service.live.get(`/v1/emails/${id}/explain`)).body.data.evidence.map(({ text }: Evidence) => text);

/** A campaign that is being sent; answers its id. */
async function startedCampaign(service: LiveService, people: number): Promise<string> {
  const { database } = service.service;
  const [workspace] = await database.query<{ id: string }>('select id from workspaces');
  const audienceId = await manyPeople(database, workspace?.id ?? '', people);
  const from = 'News <news@sender.example>';
  const content = { name: 'News', audienceId, from, subject: 'News', html: '<p>News</p>' };
  const live = insisting(service.live);
  const made = await live.post('/v1/campaigns', content);
  const { id } = made.body.data;
  expect((await live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
  return id;
}

const isTaken = (server: LimitedSmtp, address: string): boolean => server.taken.includes(address);

describe('mail that has begun and has to wait for its server', () => {
  for (const [name, { first, people, limits }] of Object.entries(CASES))
    test(`is taken back, and who leaves meanwhile gets nothing: the server ${name}`, async () => {
      const over = Promise.withResolvers<void>();
      await using server = await startLimitedSmtp(limits(over.promise));
      await using service = await startLiveService({
        environment: { TRANSPORT: 'capture,smtp', SMTP_URL: `smtp://127.0.0.1:${server.port}?tls=none` },
      });
      const live = insisting(service.live);
      await live.patch(`/v1/domains/${service.domainId}`, { provider: 'smtp' });
      const mails = (from: number, count: number) =>
        Promise.all(
          Array.from({ length: count }, (_, n) => service.send({ to: `r${from + n}@people.example` })),
        );
      const early = await mails(0, first);
      await eventually('the first are taken', () => server.taken.length === first || undefined);

      const campaign = await startedCampaign(service, people);
      const [leaver = '', stayer = ''] = await Promise.all([
        service.send({ to: 'leaver@people.example' }),
        service.send({ to: 'stayer@people.example' }),
      ]);
      const { database } = service.service;
      const waiting = await eventually('all wait, and nothing is in doubt', async () => {
        const rows = await database.query<{ id: string; state: string; attempt: number }>(
          `select id, state, (context->>'attempt')::integer as attempt from emails_now where state <> 'sent'`,
        );
        const found = rows.filter(({ id }) => !early.includes(id));
        if (found.length < 4 || found.some(({ state }) => state !== 'queued')) return undefined;
        for (const { id } of found)
          if ((await evidenceOf(service, id)).some((text) => text.includes('nothing was sent'))) return found;
        return undefined;
      });
      expect(waiting.filter(({ attempt }) => attempt > 0)).toEqual([]);

      expect((await live.post(`/v1/campaigns/${campaign}/pause`)).status).toBe(200);
      const suppressed = await live.post('/v1/suppressions', { address: 'leaver@people.example' });
      expect(suppressed.status).toBe(201);
      // All instances know of a pause after a second.
      const pausedAt = performance.now();
      await eventually('the pause is known', () => performance.now() > pausedAt + 1_300 || undefined);
      server.limits = {};
      over.resolve();
      const left = await service.until(leaver, ({ status }) => status === 'failed');
      expect(left.failureReason).toBe('suppressed');
      await service.until(stayer, ({ status }) => status === 'sent');
      const late = await mails(100, 5);
      for (const id of [...early, ...late]) await service.until(id, ({ status }) => status === 'sent');
      expect([isTaken(server, 'leaver@people.example'), isTaken(server, 'stayer@people.example')]).toEqual([
        false,
        true,
      ]);
      expect(server.taken).toHaveLength(first + 1 + late.length);

      expect((await live.post(`/v1/campaigns/${campaign}/send`, {})).status).toBe(200);
      const all = first + 1 + late.length;
      await eventually('the campaign goes on', () => server.taken.length > all || undefined);
      expect(new Set(server.taken).size).toBe(server.taken.length);
      for (const id of [...early, stayer, leaver, ...late])
        expect((await evidenceOf(service, id)).filter((text) => text.includes('put off'))).toEqual([]);
    });
});
