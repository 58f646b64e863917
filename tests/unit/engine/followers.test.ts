import { expect, test } from 'bun:test';
import { EMAIL_EVENT_TYPES } from '../../../machines/email/recipient.ts';
import { followsCampaignEmails } from '../../../src/automation/campaigns/sending/follow-emails.ts';
import { wakeWriting } from '../../../src/engine/store/statements/wake-at.ts';
import { storeOf } from '../../../src/engine/store/store-of.ts';
import { systemClock } from '../../../src/platform/time/clock.ts';
import { emailKind } from '../../../src/sending/emails/kind.ts';

const kind = { ...emailKind, followers: followsCampaignEmails };
const store = storeOf(kind);
const CONTEXT = {
  at: 0,
  lastEvent: null,
  failureReason: null,
  scheduledAt: null,
  sentAt: null,
  deliveredAt: null,
  acceptedAt: 0,
  attempt: 1,
};

/** A turn that tells of events of these types. */
const turnWith = (types: readonly string[]) => {
  const events = types.map((type) => ({ type, recipient: 0, at: 0, data: null }));
  const snapshot = { value: 'delivered', status: 'active' as const, context: CONTEXT };
  return store.inputRow({
    before: null,
    after: { id: 'em_1', workspaceId: 'ws', livemode: false, snapshot, timers: {}, revision: 2 },
    steps: [],
    effects: [{ type: 'record', params: { events } }],
    outbox: [],
    claim: null,
  });
};

/** Which of the campaigns' writes a batch of turns has. */
const writesOf = (...turns: readonly (readonly string[])[]): readonly string[] => {
  const { sql } = store.commit(wakeWriting(systemClock)).prepare(turns.map(turnWith), 1, []);
  return ['campaign_marked', 'campaign_clicked', 'campaign_tallied'].filter((name) =>
    sql.includes(`${name} as (`),
  );
};

test('a batch has the writes that one of its events is for, and no others', () => {
  expect(writesOf(['sent', 'delivered'], ['sent'])).toEqual(['campaign_tallied']);
  expect(writesOf(['sent', 'delivered'], ['opened'])).toEqual(['campaign_marked', 'campaign_tallied']);
  const all = ['campaign_marked', 'campaign_clicked', 'campaign_tallied'];
  expect(writesOf(['sent', 'delivered', 'opened', 'clicked'])).toEqual(all);
});

test('whatever may mark a recipient is followed by who marks recipients', () => {
  for (const type of EMAIL_EVENT_TYPES)
    expect(writesOf([type]).includes('campaign_marked')).toBe(type !== 'sent' && type !== 'delivered');
});
