import { expect, test } from 'bun:test';
import { CampaignRecord } from '../../src/ops/torture/judge/campaign-record.ts';
import { type Invariant, Violations } from '../../src/ops/torture/judge/invariants.ts';
import { CampaignJudge } from '../../src/ops/torture/judge/judge-campaigns.ts';

const ID = 'cmp_1';
const ALL = new CampaignRecord().people.length;
const BALANCED = { total: ALL, sent: ALL - 2, remaining: 1, skipped: 1, failed: 0 };

interface Stored {
  readonly record: CampaignRecord;
  campaigns: { id: string; state: string; recipients: { total: number; given: number } }[];
  /** Campaigns and addresses of emails. */
  mails: [campaign: string, address: string][];
}

/** The verdict of the judge on a campaign that all have got, after `forge` has spoilt something. */
async function judged(forge: (stored: Stored) => void = () => {}): Promise<readonly Invariant[]> {
  const record = new CampaignRecord();
  record.begun.add(ID);
  record.look(ID, BALANCED);
  const stored: Stored = {
    record,
    campaigns: [{ id: ID, state: 'sent', recipients: { total: ALL, given: ALL } }],
    mails: record.people.map((address) => [ID, address]),
  };
  forge(stored);
  const violations = new Violations();
  const judge = new CampaignJudge(record, violations);
  for (const [index, [campaign, address]] of stored.mails.entries())
    judge.note(campaign, address, `em_${index}`);
  await judge.close({ query: async () => stored.campaigns, close: async () => {} } as never);
  return [...violations.counts.keys()];
}

const person = new CampaignRecord().people[7] as string;

test('a campaign that everybody has one email of violates nothing', async () => {
  expect(await judged()).toEqual([]);
  // Another one to the same people is another email to each of them.
  const again = ({ campaigns, mails }: Stored) => {
    campaigns.push({ id: 'cmp_2', state: 'sent', recipients: { total: ALL, given: ALL } });
    mails.push(...mails.map(([, address]) => ['cmp_2', address] as [string, string]));
  };
  expect(await judged(again)).toEqual([]);
});

const FORGED: readonly (readonly [string, readonly Invariant[], (stored: Stored) => void])[] = [
  ['a second email for one person', ['recipientTwice'], ({ mails }) => void mails.push([ID, person])],
  [
    'a person without an email',
    ['recipientMissed'],
    (stored) => {
      stored.mails = stored.mails.filter(([, address]) => address !== person);
    },
  ],
  [
    'an email for a stranger',
    ['unexplained'],
    ({ mails }) => void mails.push([ID, 'stranger@receiver.example']),
  ],
  [
    'a campaign that was begun and is lost',
    ['lost'],
    (stored) => {
      stored.campaigns = [];
    },
  ],
  [
    'a campaign that never came to its end',
    ['wrongCampaign'],
    ({ campaigns }) => void campaigns.splice(0, 1, { ...campaigns[0], state: 'sending' } as never),
  ],
  [
    'a recipient who was left out',
    ['wrongCampaign'],
    ({ campaigns }) =>
      void campaigns.splice(0, 1, { ...campaigns[0], recipients: { total: ALL, given: ALL - 1 } } as never),
  ],
  [
    'a recipient who was never frozen',
    ['wrongCampaign'],
    ({ campaigns }) =>
      void campaigns.splice(0, 1, {
        ...campaigns[0],
        recipients: { total: ALL - 1, given: ALL - 1 },
      } as never),
  ],
  [
    'numbers that do not balance',
    ['unbalanced'],
    ({ record }) => record.look(ID, { ...BALANCED, remaining: 2 }),
  ],
];

test.each(FORGED)('%s is noticed', async (_, invariants, forge) => {
  expect(await judged(forge)).toEqual(invariants);
});
