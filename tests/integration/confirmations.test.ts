import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addMembers } from '../../src/audience/audiences/members.ts';
import { type AskingDeps, askToConfirm, confirmationAsker } from '../../src/audience/preferences/commands.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { LIVE_SCHEDULE } from '../../src/sending/emails/accept/attempt-schedule.ts';
import type { AcceptanceDeps } from '../../src/sending/emails/accept.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

// A person who has to confirm gets one mail, whatever dies between the request and the mail.

const DAY_MS = 86_400_000;
const FROM = 'Shop <shop@sender.example>';

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('asking to confirm on %s', (_, environment) => {
  let service: LiveService;
  let audienceId: string;
  let workspaceId: string;
  let made = 0;

  beforeAll(async () => {
    service = await startLiveService({ environment });
    await service.live.patch('/v1/workspace', { defaultFrom: FROM });
    audienceId = (await service.live.post('/v1/audiences', { name: 'Letter', confirm: true })).body.data.id;
    const [row] = await service.service.database.query<{ id: string }>('select id from workspaces');
    workspaceId = row?.id ?? '';
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const aPerson = async (): Promise<string> => {
    const email = `person-${++made}@example.com`;
    await service.live.post('/v1/contacts', { email });
    return email;
  };
  /** As the request does it, and dies before anybody is asked. Answers the ids of those who wait. */
  const addAndDie = async (email: string): Promise<readonly string[]> => {
    let waiting: readonly string[] = [];
    const { database, clock } = service.service;
    await addMembers(
      {
        database,
        counter: undefined as never,
        askToConfirm: async (ids) => {
          waiting = ids;
        },
      },
      {
        caller: { workspaceId, livemode: true, senderDefaults: { from: FROM } },
        params: { id: audienceId },
        body: { emails: [email] },
        now: clock.now(),
        claim: null,
      } as never,
    );
    expect(waiting).toHaveLength(1);
    // The service's own duty leaves it to the test.
    await database.query(`update confirmations set next_at = next_at + interval '1 day' where id = any($1)`, [
      waiting,
    ]);
    return waiting;
  };
  /** The services that asking calls; `spawn` is between them and the engine. */
  const depsWith = (spawn?: AcceptanceDeps['engine']['spawn'], ahead = 0): AskingDeps => {
    const { database, engine, clock } = service.service;
    const none = async () => {
      throw new Error('A confirmation has no template and no markdown.');
    };
    return {
      database,
      signer: service.signer,
      publicUrl: 'https://post.example',
      clock: { now: () => clock.now() + ahead, monotonic: () => clock.monotonic() },
      acceptance: {
        engine: spawn ? ({ spawn, hasRoom: () => true } as never) : engine,
        database,
        bodies: null,
        simulatorDomain: 'simulator.example',
        liveSchedule: LIVE_SCHEDULE,
        testClocks: () => undefined,
        testSendsPerDay: 0,
        findSendingDomain: async () => ({ id: service.domainId }),
        findReplyDomain: async () => null,
        signer: service.signer,
        fillTemplate: none,
        renderMarkdown: none,
      },
    };
  };
  /** As an instance that looks for what was left behind once its time has come. */
  const lookLater = (): Promise<unknown> => confirmationAsker(depsWith(undefined, 2 * DAY_MS)).run();
  const seenOf = async (email: string) => {
    const { body } = await service.live.get(`/v1/contacts/${email}/activity`);
    const mails = await service.live.get(`/v1/emails?to=${email}`);
    const entries = body.data.filter(({ type }: { type: string }) => /^(asked|notAsked)$/.test(type));
    return {
      entries: entries.map((one: { type: string; data: object }) => [one.type, one.data]),
      mails: mails.body.data.length,
    };
  };
  const ONCE = { entries: [['asked', {}]], mails: 1 };
  const left = () => service.service.database.query('select id from confirmations');

  test('a process that dies right after the request leaves it to the next: one mail, told once', async () => {
    const email = await aPerson();
    const ids = await addAndDie(email);
    expect(await seenOf(email)).toEqual({ entries: [], mails: 0 });
    await lookLater();
    expect(await seenOf(email)).toEqual(ONCE);
    // The same confirmation writes nothing the second time.
    await askToConfirm(depsWith(), ids);
    await lookLater();
    expect(await seenOf(email)).toEqual(ONCE);
    expect(await left()).toEqual([]);
  });

  test('a mail whose commit was lost is tried again, one whose reply was lost is not', async () => {
    const { engine } = service.service;
    const lost = await aPerson();
    const before = await addAndDie(lost);
    await askToConfirm(
      depsWith(async () => {
        throw new UnavailableError('The database is away.');
      }),
      before,
    );
    expect(await seenOf(lost)).toEqual({ entries: [], mails: 0 });
    const unheard = await aPerson();
    const behind = await addAndDie(unheard);
    await askToConfirm(
      depsWith((async (kind: 'email', request: never) => {
        await engine.spawn(kind, request);
        throw new UnavailableError('The reply was lost.', 'unknown');
      }) as typeof engine.spawn),
      behind,
    );
    expect(await seenOf(unheard)).toEqual(ONCE);
    await lookLater();
    expect([await seenOf(lost), await seenOf(unheard)]).toEqual([ONCE, ONCE]);
    expect(await left()).toEqual([]);
  });

  test('many that ask at once, in one statement and in several, ask once', async () => {
    const people = await Promise.all([aPerson(), aPerson(), aPerson()]);
    for (const email of people) {
      const ids = await addAndDie(email);
      await Promise.all([1, 2, 3, 4, 5].map(() => askToConfirm(depsWith(), [...ids, ...ids])));
      expect([email, await seenOf(email)]).toEqual([email, ONCE]);
    }
  });

  test('the activity shows why a person could not be asked', async () => {
    const [away, bounced, unverified, empty] = await Promise.all([
      aPerson(),
      aPerson(),
      aPerson(),
      aPerson(),
    ]);
    const told = (reason: string) => ({ entries: [['notAsked', { reason }]], mails: 0 });
    const ids = await addAndDie(bounced);
    await service.service.database.query(
      `insert into suppressions (workspace_id, address_key, address, reason, created_at) values ($1, $2, $2, 'bounced', now())`,
      [workspaceId, bounced],
    );
    await askToConfirm(depsWith(), ids);
    expect(await seenOf(bounced)).toEqual(told('suppressed'));

    const toNobody = depsWith();
    const refusing = { ...toNobody.acceptance, findSendingDomain: async () => null };
    await askToConfirm({ ...toNobody, acceptance: refusing }, await addAndDie(unverified));
    expect(await seenOf(unverified)).toEqual(told('sender_unverified'));

    const overQuota = (async () => ({ outcome: 'overQuota' })) as never;
    await askToConfirm(depsWith(overQuota), await addAndDie(empty));
    expect(await seenOf(empty)).toEqual(told('quota_exceeded'));

    const waiting = await addAndDie(away);
    await service.live.patch('/v1/workspace', { defaultFrom: null });
    await askToConfirm(depsWith(), waiting);
    await service.live.patch('/v1/workspace', { defaultFrom: FROM });
    expect(await seenOf(away)).toEqual(told('no_sender'));
    expect(await left()).toEqual([]);
  });

  test('a person who has left the audience or was forgotten, or whose audience is gone, is not asked', async () => {
    const [left1, forgotten, everything] = await Promise.all([aPerson(), aPerson(), aPerson()]);
    await addAndDie(everything);
    await service.live.patch(`/v1/contacts/${everything}`, { status: 'unsubscribed' });
    await addAndDie(left1);
    await service.live.delete(`/v1/audiences/${audienceId}/contacts/${left1}`);
    await addAndDie(forgotten);
    await service.live.delete(`/v1/contacts/${forgotten}`);
    await lookLater();
    expect(await seenOf(left1)).toEqual({ entries: [], mails: 0 });
    expect(await seenOf(everything)).toEqual({ entries: [['notAsked', { reason: 'suppressed' }]], mails: 0 });
    expect((await service.live.get(`/v1/emails?to=${forgotten}`)).body.data).toEqual([]);
    const orphan = await aPerson();
    await addAndDie(orphan);
    await service.live.delete(`/v1/audiences/${audienceId}`);
    await lookLater();
    expect(await seenOf(orphan)).toEqual({ entries: [], mails: 0 });
    expect(await left()).toEqual([]);
  });
});
