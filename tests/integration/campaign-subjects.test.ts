import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { begin } from '../../src/mail/transport/begin.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { OutboundMessage, Transport } from '../../src/mail/transport/transport.ts';
import { packContent, unpackContent } from '../../src/sending/emails/accept/packed-content.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// A busy machine has no time for the subjects of a chunk: they are made when the emails leave, and lists and
// searches say the same.

const HALF_AN_HOUR = 1_800_000;
const PEOPLE = 5;

class PuttingOff implements Transport {
  readonly name = 'smtp' as const;
  readonly confirmsDelivery = true;
  readonly tried: OutboundMessage[] = [];
  putsOff = true;

  async send(message: OutboundMessage, limits: Parameters<Transport['send']>[1]) {
    await begin(limits);
    this.tried.push(message);
    const reply = withoutReply(message.recipients[0] ?? '', 'deferred', 'later', 'General');
    return [this.putsOff ? reply : { ...reply, outcome: 'accepted' as const, fault: null, subType: null }];
  }
  verify = async () => [];
  close = async () => {};
}

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('subjects that are made when their emails leave, on %s', (_, environment) => {
  let service: LiveService;
  let way: PuttingOff;
  beforeAll(async () => {
    way = new PuttingOff();
    service = await startLiveService({
      environment,
      transport: way,
      atNoon: true,
      schedule: { backoffMs: [HALF_AN_HOUR] },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
  /** As a chunk leaves them whose time was over. */
  const forgetSubjects = async (id: string, source: string): Promise<void> => {
    const { database } = service.service;
    const rows = await database.query<{ id: string; packed: string }>(
      `select id, encode(content, 'base64') as packed from emails where campaign_id = $1`,
      [id],
    );
    for (const row of rows) {
      const { campaign, ...content } = await unpackContent(row.packed);
      const inserted = await packContent({ ...content, campaign: { contact: campaign?.contact ?? {} } });
      const sql = `update emails set subject = $2, content = decode($3, 'base64') where id = $1`;
      await database.query(sql, [row.id, source, inserted]);
    }
  };

  for (const [what, source, shown] of [
    ['as they leave', 'Hello {{ contact.firstName }} of {{ workspace.name }}', (left: string) => left],
    [
      "without the link that is the recipient's alone",
      '{{ contact.firstName }}: {{ preferencesUrl }}',
      (left: string) => left.replace(/(?<=\/p\/).*/, ''),
    ],
  ] as const)
    test(`are stored ${what}, and are the same in each attempt`, async () => {
      const [workspace] = await service.service.database.query<{ id: string }>('select id from workspaces');
      await service.live.patch('/v1/workspace', { name: 'Acme' });
      const audienceId = await manyPeople(service.service.database, workspace?.id ?? '', PEOPLE);
      way.putsOff = true;
      way.tried.length = 0;
      const said = { name: 'News', audienceId, from: 'News <news@sender.example>', subject: source };
      const { id } = (await service.live.post('/v1/campaigns', { ...said, html: '<p>Hello</p>' })).body.data;
      expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
      const list = (): Promise<Email[]> => get(`/v1/emails?campaignId=${id}&limit=100`);
      const untilAll = (status: string): Promise<Email[]> =>
        eventually(`all are ${status}`, async () => {
          const emails = await list();
          const isSo = emails.length === PEOPLE && emails.every((email) => email.status === status);
          return isSo ? emails : undefined;
        });
      await untilAll('deferred');
      await forgetSubjects(id, source);
      for (const { subject } of await list()) expect(subject).toBe(source);
      way.tried.length = 0;
      await service.pass(HALF_AN_HOUR + 1_000);
      await eventually('all were tried again', () => way.tried.length >= PEOPLE || undefined);
      await untilAll('deferred');
      // Whatever the workspace is called by then.
      await service.live.patch('/v1/workspace', { name: 'Other' });
      way.putsOff = false;
      await service.pass(HALF_AN_HOUR + 1_000);
      const emails = await untilAll('delivered');
      const left = Map.groupBy(way.tried, ({ emailId }) => emailId);
      for (const email of emails) {
        const subjects = [...new Set(left.get(email.id)?.map(({ subject }) => subject))];
        expect(subjects).toHaveLength(1);
        const [subject = ''] = subjects;
        expect(subject).toMatch(/Person\d/);
        expect(email.subject).toStartWith(shown(subject));
        expect((await get(`/v1/emails/${email.id}`)).subject).toBe(email.subject);
        const found: Email[] = await get(
          `/v1/emails?campaignId=${id}&subject=${encodeURIComponent(email.subject)}`,
        );
        expect(found.map((one) => one.id)).toEqual([email.id]);
        if (what !== 'as they leave') expect(email.subject).not.toBe(subject);
      }
    });
});
