import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { begin } from '../../src/mail/transport/begin.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { OutboundMessage, Transport } from '../../src/mail/transport/transport.ts';
import { ACT_WORDS } from '../../src/sending/suppressions/acts.ts';
import { ACTS, type ActWorld, type Person, peopleFor } from '../support/acts.ts';
import { faultsOf } from '../support/audited.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

// A person who gets no mail has done something, or something was done to them, and the reason shown is that
// act: each act at each place where an email is held against it.

const HALF_AN_HOUR = 1_800_000;
const NAMES = Object.keys(ACTS);

/** A transport that defers the recipients that the test names. */
class PuttingOff implements Transport {
  readonly name = 'smtp' as const;
  readonly confirmsDelivery = true;
  readonly sent: OutboundMessage[] = [];
  putsOff: (message: OutboundMessage) => boolean = () => false;

  async send(message: OutboundMessage, limits: Parameters<Transport['send']>[1]) {
    const [to = ''] = message.recipients;
    await begin(limits);
    const reply = withoutReply(to, 'deferred', 'later', 'General');
    if (this.putsOff(message)) return [reply];
    this.sent.push(message);
    return [{ ...reply, outcome: 'accepted' as const, fault: null, subType: null }];
  }
  verify = async () => [];
  close = async () => {};
}

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('an act and the mail that it keeps away, on %s', (_, environment) => {
  let service: LiveService;
  let way: PuttingOff;
  let workspaceId: string;

  beforeAll(async () => {
    way = new PuttingOff();
    service = await startLiveService({
      environment,
      transport: way,
      atNoon: true,
      schedule: { backoffMs: [HALF_AN_HOUR] },
    });
    const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
    workspaceId = row?.id ?? '';
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const get = async (path: string): Promise<Email> => (await service.live.get(path)).body.data;
  const anAudience = async (people: Iterable<Person>): Promise<string> => {
    const { id } = (await service.live.post('/v1/audiences', { name: 'Letter' })).body.data;
    const contactIds = [...people].map((person) => person.id);
    await service.live.post(`/v1/audiences/${id}/contacts`, { contactIds });
    return id;
  };
  const begun = async (audienceId: string, more: object = {}): Promise<string> => {
    const { id } = (
      await service.live.post('/v1/campaigns', {
        name: 'News',
        audienceId,
        from: 'News <news@sender.example>',
        subject: 'News',
        html: '<p>Hello</p>',
        ...more,
      })
    ).body.data;
    // A contact that was added to the audience in the millisecond of the campaign's start is in it.
    expect((await service.live.post(`/v1/campaigns/${id}/send`, {})).status).toBe(200);
    return id;
  };
  const until = (what: string, id: string, is: (stats: Email, campaign: Email) => boolean): Promise<Email> =>
    eventually(
      what,
      async () => {
        const stats = await get(`/v1/campaigns/${id}/stats`);
        expect(stats.total).toBe(stats.sent + stats.remaining + stats.skipped + stats.failed);
        return is(stats, await get(`/v1/campaigns/${id}`)) ? stats : undefined;
      },
      { withinMs: 30_000 },
    );
  const act = async (audienceId: string, people: ReadonlyMap<string, Person>): Promise<void> => {
    const world: ActWorld = { service, workspaceId, audienceId };
    await Promise.all([...people].map(([name, person]) => ACTS[name]?.does(world, person)));
  };
  /** The outcome of each: the reason, or `sent`. */
  const toldOf = async (id: string, people: ReadonlyMap<string, Person>): Promise<object> => {
    const rows: Email[] = await get(`/v1/campaigns/${id}/recipients?limit=100`);
    return Object.fromEntries(
      [...people].map(([name, person]) => {
        const row = rows.find(({ contactId }) => contactId === person.id);
        return [name, row ? (row.reason ?? row.outcome) : 'not in it'];
      }),
    );
  };
  const expected = (of: (name: string) => string | undefined = () => undefined): object =>
    Object.fromEntries(NAMES.map((name) => [name, of(name) ?? ACTS[name]?.reason ?? 'sent']));
  const newsTo = (people: ReadonlyMap<string, Person>): readonly string[] => {
    const names = new Map([...people].map(([name, { email }]) => [email, name]));
    return way.sent
      .filter(({ subject }) => subject === 'News')
      .flatMap(({ recipients: [to = ''] }) => names.get(to) ?? [])
      .toSorted();
  };
  const reached = NAMES.filter((name) => ACTS[name]?.reason === null).toSorted();
  const ledgerIsRight = async (): Promise<void> => {
    expect(await faultsOf(service)).toEqual([]);
  };

  test('before a campaign begins, and while it has yet to give them out', async () => {
    const [first] = (await peopleFor(service, ['first'], 'first')).values();
    const before = await peopleFor(service, NAMES, 'before');
    const meanwhile = await peopleFor(service, NAMES, 'meanwhile');
    if (!first) throw new Error('No contact was made.');
    const audienceId = await anAudience([first, ...before.values(), ...meanwhile.values()]);
    await act(audienceId, before);
    const id = await begun(audienceId, {
      canary: { percent: 1, holdMinutes: 60, maxBounceRate: 100, maxComplaintRate: 100 },
    });
    await until('one is given out', id, ({ delivered }) => delivered.count === 1);
    expect((await service.live.delete(`/v1/audiences/${audienceId}`)).body.error.code).toBe('CONFLICT');
    await act(audienceId, meanwhile);
    await service.pass(61 * 60_000);
    // All are given out before all have left.
    await until(
      'its end, and that of its emails',
      id,
      ({ remaining, sent, delivered }, { status }) =>
        remaining === 0 && status === 'sent' && delivered.count === sent,
    );
    // A contact that is not in the audience when it is frozen is not in the campaign.
    const isAbsent = (name: string): boolean =>
      ACTS[name]?.isOfAudience === true || /deleted|no row/.test(name);
    expect(await toldOf(id, before)).toEqual(expected((name) => (isAbsent(name) ? 'not in it' : undefined)));
    expect(await toldOf(id, meanwhile)).toEqual(expected());
    expect(newsTo(meanwhile)).toEqual(reached);
    expect(newsTo(before)).toEqual(reached.filter((name) => !isAbsent(name)));
  });

  // The statements of both are the same, so that the embedded database is asked for the one with more of
  // them.
  const isEmbedded = 'DATABASE_URL' in environment;
  for (const fate of isEmbedded ? (['is deleted'] as const) : (['stays', 'is deleted'] as const))
    test(`while the emails are put off, and the audience ${fate}`, async () => {
      const people = await peopleFor(service, NAMES, `deferred-${fate.length}`);
      const audienceId = await anAudience(people.values());
      way.putsOff = ({ subject }) => subject === 'News';
      const id = await begun(audienceId);
      await until('its end', id, ({ sent }, { status }) => sent === NAMES.length && status === 'sent');
      await eventually('all are put off', async () => {
        const waiting: Email[] = await get(`/v1/emails?campaignId=${id}&status=deferred&limit=100`);
        return waiting.length === NAMES.length || undefined;
      });
      await act(audienceId, people);
      way.putsOff = () => false;
      if (fate === 'is deleted') {
        expect((await service.live.delete(`/v1/audiences/${audienceId}`)).status).toBe(204);
        await eventually('its members are gone', async () => {
          const sql = 'select 1 from audience_members where audience_id = $1';
          return (await service.service.database.query(sql, [audienceId])).length === 0 || undefined;
        });
      }
      await service.pass(HALF_AN_HOUR + 1_000);
      await until('all are over', id, ({ delivered, skipped }) => delivered.count + skipped === NAMES.length);
      expect(await toldOf(id, people)).toEqual(expected());
      expect(newsTo(people)).toEqual(reached);
      const rows: Email[] = await get(`/v1/campaigns/${id}/recipients?outcome=skipped&limit=100`);
      expect(rows).toHaveLength(NAMES.length - reached.length);
      for (const { emailId, reason } of rows) {
        const { summary, evidence } = await get(`/v1/emails/${emailId}/explain`);
        const words = ACT_WORDS[reason as keyof typeof ACT_WORDS];
        expect(summary).toBe(`No recipient got it: ${words}.`);
        expect(evidence.map(({ text }: Email) => text).join()).toContain(words);
      }
      expect((await get(`/v1/campaigns/${id}/stats`)).inDoubt).toBe(0);
      await ledgerIsRight();
    });

  test('before the step of a flow, and while its email is put off', async () => {
    const { live } = service;
    const template = (
      await live.post('/v1/templates', {
        name: 'Step',
        subject: 'Step',
        from: 'Shop <shop@sender.example>',
        // Without a way to unsubscribe: a flow is kept away all the same.
        html: '<p>Hello</p>',
      })
    ).body.data;
    const made = (
      await live.post('/v1/flows', {
        name: 'Hello',
        trigger: { type: 'manual' },
        steps: [{ key: 'hello', type: 'sendEmail', config: { templateId: template.id } }],
      })
    ).body.data;
    await live.post(`/v1/flows/${made.id}/activate`);
    // An act about an audience does not concern a flow.
    const reasonIn = (name: string): string =>
      (ACTS[name]?.isOfAudience ? null : ACTS[name]?.reason) ?? 'sent';
    const runOf = async ({ id: contactId }: Person): Promise<string> =>
      (await live.post(`/v1/flows/${made.id}/runs`, { contactId })).body.data?.id;
    const ended = (runId: string): Promise<Email> =>
      eventually('the run has ended', async () => {
        const run = await get(`/v1/flows/runs/${runId}`);
        return run.endedAt === null ? undefined : run;
      });

    const names = NAMES.filter((name) => !name.startsWith('is deleted'));
    const before = await peopleFor(service, names, 'step');
    await act(await anAudience(before.values()), before);
    const runOfEach = async (
      of: ReadonlyMap<string, Person>,
    ): Promise<readonly (readonly [string, Email])[]> =>
      Promise.all(
        [...of].map(async ([name, person]) => [name, (await ended(await runOf(person))).log[0]] as const),
      );
    for (const [name, { outcome }] of await runOfEach(before)) {
      const reason = reasonIn(name);
      expect([name, outcome]).toEqual([name, reason === 'sent' ? 'sent' : `skipped: ${reason}`]);
    }

    const people = await peopleFor(service, NAMES, 'after');
    const audienceId = await anAudience(people.values());
    way.putsOff = ({ subject }) => subject === 'Step';
    const emails = new Map((await runOfEach(people)).map(([name, { emailId }]) => [name, emailId]));
    for (const id of emails.values()) await service.until(id, ({ status }) => status === 'deferred');
    await act(audienceId, people);
    way.putsOff = () => false;
    await service.pass(HALF_AN_HOUR + 1_000);
    for (const [name, id] of emails) {
      const email = await service.until(id, ({ status }) => status === 'failed' || status === 'delivered');
      const reason = reasonIn(name);
      expect([name, email.status, email.failureReason]).toEqual(
        reason === 'sent' ? [name, 'delivered', null] : [name, 'failed', 'suppressed'],
      );
      if (reason === 'sent') continue;
      const { summary } = await get(`/v1/emails/${id}/explain`);
      expect(summary).toBe(`No recipient got it: ${ACT_WORDS[reason as keyof typeof ACT_WORDS]}.`);
    }
  });

  test('while the email of a flow is put off that joining the audience began', async () => {
    const { live } = service;
    const said = {
      name: 'Joined',
      subject: 'Joined',
      from: 'Shop <shop@sender.example>',
      html: '<p>Hello</p>',
    };
    const { id: templateId } = (await live.post('/v1/templates', said)).body.data;
    const audienceId = await anAudience([]);
    const { id: flow } = (
      await live.post('/v1/flows', {
        name: 'Welcome',
        trigger: { type: 'audienceJoined', audienceId },
        steps: [{ key: 'hello', type: 'sendEmail', config: { templateId } }],
      })
    ).body.data;
    expect((await live.post(`/v1/flows/${flow}/activate`)).status).toBe(200);
    const names = NAMES.filter((name) => ACTS[name]?.isOfAudience || /again|another name|no row/.test(name));
    const people = await peopleFor(service, names, 'joined');
    way.putsOff = ({ subject }) => subject === 'Joined';
    const contactIds = [...people.values()].map(({ id }) => id);
    expect((await live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds })).status).toBe(200);
    const emails = await eventually('each has an email', async () => {
      await service.service.duties.find(({ name }) => name === 'flowFollower')?.run();
      const runs: Email[] = await get(`/v1/flows/${flow}/runs?limit=100`);
      const logs = await Promise.all(runs.map(({ id }) => get(`/v1/flows/runs/${id}`)));
      const found = new Map(
        logs.map(({ contactId, log }) => [contactId, log[0]?.emailId as string | undefined]),
      );
      return contactIds.every((id) => found.get(id)) ? found : undefined;
    });
    const emailOf = ({ id }: Person): string => emails.get(id) ?? '';
    for (const person of people.values())
      await service.until(emailOf(person), ({ status }) => status === 'deferred');
    await act(audienceId, people);
    way.putsOff = () => false;
    await service.pass(HALF_AN_HOUR + 1_000);
    for (const [name, person] of people) {
      const id = emailOf(person);
      const email = await service.until(id, ({ status }) => status === 'failed' || status === 'delivered');
      // The workspace takes a contact out of the audience, and not out of the flow.
      const reason = ACTS[name]?.reason === 'removed' ? null : ACTS[name]?.reason;
      expect([name, email.status, email.failureReason]).toEqual(
        reason === null ? [name, 'delivered', null] : [name, 'failed', 'suppressed'],
      );
      if (name !== 'leaves the audience') continue;
      const { summary } = await get(`/v1/emails/${id}/explain`);
      expect(summary).toBe(`No recipient got it: ${ACT_WORDS.unsubscribed}.`);
    }
  });
});
