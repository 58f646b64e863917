import { expect, test } from 'bun:test';
import type { EmailContext, EmailEvent } from '../../machines/email/context.ts';
import { newEmail } from '../../machines/email/rules.ts';
import type { Order } from '../../src/engine/machine/draft.ts';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { Transport } from '../../src/mail/transport/transport.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { UnavailableError } from '../../src/platform/errors/unavailable.ts';
import { type Clock, systemClock } from '../../src/platform/time/clock.ts';
import type { CampaignMail, CampaignSendState } from '../../src/sending/emails/campaign-mail.ts';
import { outboundMessage, type Personalise, type Sender } from '../../src/sending/emails/send/message.ts';
import type { LiveParts } from '../../src/sending/emails/send/parts.ts';
import { LivePerformer } from '../../src/sending/emails/send/performer.ts';
import type { LiveMessage, LiveReader, MessageWithoutContent } from '../../src/sending/emails/send/reader.ts';
import { SubjectWriter } from '../../src/sending/emails/send/subject-writer.ts';
import { LIVE_LIMITS } from '../../src/sending/emails/transports/limits.ts';
import type { Senders } from '../../src/sending/emails/transports/senders.ts';
import { WarmUps } from '../../src/sending/emails/warm-up/warm-ups.ts';
import { eventually } from '../support/eventually.ts';

// Emails wait in the memory of one process: 2 at work, 256 that it may claim, and 4,096 new ones without
// their messages.
const SLOTS = 2;
const CLAIMED = 256;
const NEW = 4_096;

/** Nothing is warmed up, so nothing is asked. */
const nobody = {} as Database;

const BULK = 1;
const message: LiveMessage = {
  recipients: ['r@receiver.example'],
  recipient_keys: ['r@receiver.example'],
  domain_id: 'dom_1',
  subject: 'Hello',
  envelope: {
    from: { name: null, address: 'a@sender.example' },
    to: [{ name: null, address: 'r@receiver.example' }],
    cc: [],
    bcc: [],
    replyTo: [],
    headers: [],
    tags: [],
    attachments: [],
    trackOpens: null,
    trackClicks: null,
    messageId: '<m@sender.example>',
    size: 100,
  },
  content: { text: 'Hello', html: null, markdown: null, attachments: [] },
};

function world(
  clock: Clock = systemClock,
  campaigns?: CampaignMail,
  own: Partial<Senders> = {},
  content: Partial<LiveReader> = {},
) {
  const read: string[] = [];
  const sent: string[] = [];
  const others: unknown[] = [];
  const leftBehind: number[] = [];
  const stuck = Promise.withResolvers<void>();
  const transport = {
    name: 'smtp',
    confirmsDelivery: false,
    async send({ emailId, recipients: [to = ''] }, { begin }) {
      await stuck.promise;
      if ((await begin?.()) !== true) throw new Error('It was begun elsewhere.');
      sent.push(emailId);
      return [{ ...withoutReply(to, 'deferred', '', 'General'), outcome: 'accepted' }];
    },
    verify: async () => [],
    close: async () => {},
  } satisfies Transport;
  const sender: Sender = {
    domainId: 'dom_1',
    dkim: [],
    returnPath: 'sender.example',
    receives: true,
    trackingHost: null,
    provider: null,
    openTracking: false,
    clickTracking: false,
    fallbacks: [],
    warmUps: [],
  };
  const personalise: Personalise = ({ text, html }) => ({ text, html, unsubscribe: null });
  const parts: LiveParts = {
    clock,
    logger: { warn() {}, error() {} } as never,
    reader: {
      message: async ({ id }) => {
        read.push(id);
        return message;
      },
      withholdings: async () => new Map(),
      ...content,
    } satisfies Partial<LiveReader> as Partial<LiveReader> as LiveReader,
    leftMessage: async () => null,
    subjects: new SubjectWriter(nobody),
    signer: createSigner('only-for-tests'),
    limits: { ...LIVE_LIMITS, slots: SLOTS, bulkSlots: BULK },
    campaigns: () => campaigns,
    mayForward: async () => true,
    senders: { find: async () => sender, ofEmail: async () => sender, forget() {}, ...own },
    transport: () => transport,
    personalise,
    powerless: personalise,
    signing: { close() {} },
    bulkWriter: {
      write: async (mail, copy, sender) => outboundMessage(mail, copy, sender, personalise),
      otherCame: () => others.push(null),
      close() {},
    },
    enabled: ['smtp'],
    warmUps: new WarmUps(nobody, clock),
  };
  const garbage = { add: (octets: number) => void leftBehind.push(octets) };
  const performer = new LivePerformer(parts, garbage);
  const context = newEmail({
    at: Date.now(),
    livemode: true,
    scheduledAt: null,
    admitted: true,
    leaseMs: 720_000,
    patienceMs: 1,
    backoffMs: [1],
    recipients: [{ simulate: null }],
  });
  const orders: Order[] = [];
  /** As the engine does it: told what has begun, and settled once the outcome is durable. */
  const take = async (
    more: Partial<LiveMessage> | Partial<MessageWithoutContent> = {},
  ): Promise<readonly EmailEvent[]> => {
    const id = `em_${String(orders.length).padStart(24, '0')}`;
    const actor = { id, workspaceId: 'ws_1', livemode: true, snapshot: { context } };
    const order = {
      kind: 'email',
      actor,
      effect: { type: 'transmit', params: {} },
      payload: { ...message, ...more },
    } as never as Order;
    orders.push(order);
    const events = await performer.perform(order, async (event) => {
      const { attempt, by } = event as Extract<EmailEvent, { type: 'attempt.begun' }>;
      const begun: EmailContext = { ...context, attempt, begunBy: by, at: Date.now() };
      return { outcome: 'changed', state: 'sending', context: begun };
    });
    performer.settled(order);
    return events;
  };
  return { performer, orders, read, sent, others, sender, leftBehind, take, release: stuck.resolve };
}

test('a burst of new live mail waits in memory, and is sent without being offered again', async () => {
  const { performer, orders, read, sent, take, release } = world();
  expect(performer.room).toBe(SLOTS + CLAIMED);
  const under = Array.from({ length: SLOTS + CLAIMED }, () => take());
  // Nothing more is claimed: another instance may have it.
  await eventually('they wait', async () => performer.room === 0 || undefined);
  const beyond = Array.from({ length: NEW }, () => take());
  // One more is turned away. It offers itself a second later.
  expect(await take()).toEqual([]);

  // Messages stay in memory only of those that would have been claimed as well.
  expect(orders.filter(({ payload }) => payload !== undefined)).toHaveLength(SLOTS + CLAIMED);
  expect(read).toHaveLength(0);
  release();
  const outcomes = await Promise.all([...under, ...beyond]);
  expect(outcomes.map(([event]) => event?.type)).toEqual(outcomes.map(() => 'attempt.completed'));
  expect(sent).toEqual(orders.slice(0, -1).map(({ actor }) => actor.id));
  expect(read).toEqual(orders.slice(SLOTS + CLAIMED, -1).map(({ actor }) => actor.id));
  expect(performer.room).toBe(SLOTS + CLAIMED);
});

test('what waits in memory when the service stops is never begun', async () => {
  const { performer, sent, take, release } = world();
  const waiting = Array.from({ length: SLOTS + CLAIMED + 10 }, () => take());
  await eventually('two have slots', async () => performer.room === 0 || undefined);
  performer.stop();
  expect((await Promise.all(waiting.slice(SLOTS))).flat()).toEqual([]);
  release();
  await Promise.allSettled(waiting);
  performer.stopped();
  expect(sent).toEqual([]);
});

test('an instance in which the next email has waited for a second claims no more of them, until it gets its slot', async () => {
  const clock = { at: 0, now: Date.now, monotonic: () => clock.at };
  const { performer, take, release } = world(clock);
  const taken = Array.from({ length: SLOTS + 1 }, () => take());
  await eventually('one waits', async () => performer.room === CLAIMED - 1 || undefined);
  clock.at = 999;
  expect(performer.room).toBe(CLAIMED - 1);
  clock.at = 1_000;
  expect(performer.room).toBe(0);
  release();
  await Promise.all(taken);
  expect(performer.room).toBe(SLOTS + CLAIMED);
});

test('the emails of a paused campaign take no slot from those of another one, and nothing is made of them', async () => {
  const made: string[] = [];
  const campaigns: CampaignMail = {
    standing: async (id) => (id === 'cmp_paused' ? 'held' : 'sends'),
    mayLeave: async () => 'now',
    parts: async ({ campaignId }) => {
      made.push(campaignId);
      return {
        subject: 'Hello',
        html: null,
        text: 'Hello',
        headers: [],
        templateVersion: null,
        audienceId: 'aud_1',
      };
    },
  };
  const { performer, take, sent, others, release } = world(systemClock, campaigns);
  const room = performer.bulkRoom;
  const content = { ...message.content, campaign: { contact: {} } };
  const paused = Array.from({ length: 50 }, () => take({ campaign_id: 'cmp_paused', content }));
  const other = take({ campaign_id: 'cmp_other', content });
  await eventually('the other one is made', async () => made.length > 0 || undefined);
  expect([made, performer.bulkRoom]).toEqual([['cmp_other'], room - 1]);
  expect((await Promise.all(paused)).flat()).toEqual([]);
  release();
  expect((await other).map(({ type }) => type)).toEqual(['attempt.completed']);
  expect(sent).toHaveLength(1);
  // Those who write for campaigns hear of other mail alone.
  expect(others).toHaveLength(0);
  await take();
  expect(others).toHaveLength(1);
});

test('of a campaign no more emails wait than leave in a second, and there is room again once half of them have left', async () => {
  const clock = { at: 0, now: Date.now, monotonic: () => clock.at };
  const campaigns: CampaignMail = {
    standing: async () => 'sends',
    mayLeave: async () => 'now',
    parts: async () => ({
      subject: 'Hello',
      html: null,
      text: 'Hello',
      headers: [],
      templateVersion: null,
      audienceId: 'aud_1',
    }),
  };
  const { performer, take, release } = world(clock, campaigns);
  const content = { ...message.content, campaign: { contact: {} } };
  const given = (count: number) =>
    Array.from({ length: count }, () => take({ campaign_id: 'cmp_1', content }));
  expect(performer.bulkRoom).toBe(2 * BULK);
  const first = given(BULK + 1);
  await eventually('less than half is free', async () => performer.bulkRoom === 0 || undefined);
  release();
  await Promise.all(first);
  await Promise.all(given(10));
  expect(performer.bulkRoom).toBe(10 + BULK + 1);
  clock.at = 1_500;
  expect(performer.bulkRoom).toBe(2 * BULK);
});

test('the emails of a campaign that has ended need no slot to say so, and those that waited for one say so with it', async () => {
  let standing: CampaignSendState = 'sends';
  let made = 0;
  const campaigns: CampaignMail = {
    standing: async () => standing,
    mayLeave: async () => 'now',
    parts: async () => {
      made++;
      return {
        subject: 'Hello',
        html: null,
        text: 'Hello',
        headers: [],
        templateVersion: null,
        audienceId: 'aud_1',
      };
    },
  };
  const { performer, sent, take, release } = world(systemClock, campaigns);
  const content = { ...message.content, campaign: { contact: {} } };
  const given = () => take({ campaign_id: 'cmp_1', content });
  const types = (events: readonly EmailEvent[]) => events.map(({ type }) => type);
  const first = given();
  await eventually('the only slot is taken', async () => made === BULK || undefined);
  const second = given();
  await eventually('another waits for it', async () => performer.bulkRoom === 0 || undefined);
  standing = 'ended';
  expect(types(await given())).toEqual(['campaign.ended']);
  release();
  // An email with a slot is kept back when it was to begin, and offers itself again.
  expect(types(await first)).toEqual([]);
  expect(types(await second)).toEqual(['campaign.ended']);
  expect([sent, made]).toEqual([[], BULK]);
});

test('what a campaign sends by the domain that took the place of another does not leave once its workspace is archived', async () => {
  const campaigns: CampaignMail = {
    standing: async () => 'sends',
    mayLeave: async () => 'now',
    parts: async () => ({
      subject: 'Hello',
      html: null,
      text: 'Hello',
      headers: [],
      templateVersion: null,
      audienceId: 'aud_1',
    }),
  };
  let asked = 0;
  const { sent, sender, take, release } = world(systemClock, campaigns, {
    find: async () => 'removed',
    ofEmail: async () => (asked++ === 0 ? sender : 'archived'),
  });
  const content = { ...message.content, campaign: { contact: {} } };
  const events = take({ campaign_id: 'cmp_1', content });
  await eventually('it waits for its connection', () => asked === 1 || undefined);
  release();
  expect([await events, sent]).toEqual([[], []]);
});

test('a recipient who leaves while their email is rendered slowly gets no copy', async () => {
  const clock = { at: 0, now: Date.now, monotonic: () => clock.at };
  const campaigns: CampaignMail = {
    standing: async () => 'sends',
    mayLeave: async () => (clock.at === 0 ? 'now' : { skipped: 'unsubscribed' }),
    parts: async () => {
      clock.at = 1_001;
      return {
        subject: 'Hello',
        html: null,
        text: 'Hello',
        headers: [],
        templateVersion: null,
        audienceId: 'aud_1',
      };
    },
  };
  const { sent, take, release } = world(clock, campaigns);
  const content = { ...message.content, campaign: { contact: {} } };
  release();
  expect([await take({ campaign_id: 'cmp_1', content }), sent]).toEqual([[], []]);
});

test('a large message leaves octets behind that were loaded, and none while its content cannot be read', async () => {
  let isAway = true;
  const { leftBehind, sent, take, release } = world(
    systemClock,
    undefined,
    {},
    {
      content: async () => {
        if (isAway) throw new UnavailableError('The store of bodies is away.');
        return message.content;
      },
    },
  );
  release();
  const large = { content: null, size: 5_242_880 };
  for (let turn = 0; turn < 3; turn++) expect(await take(large)).toEqual([]);
  expect([sent, leftBehind]).toEqual([[], [0, 0, 0]]);
  isAway = false;
  expect((await take(large)).map(({ type }) => type)).toEqual(['attempt.completed']);
  expect(leftBehind.at(-1)).toBe(2 * large.size);
});
