import { expect, test } from 'bun:test';
import { addressOf, FlowRecord, flowMailIn } from '../../src/ops/torture/judge/flow-record.ts';
import { type Invariant, Violations } from '../../src/ops/torture/judge/invariants.ts';
import { FlowJudge } from '../../src/ops/torture/judge/judge-flows.ts';

const LOG = 'hello sent, mark updated, wait event, again sent, tag updated';

interface Stored {
  contacts: { email: string; runs: number }[];
  runs: { id: string; status: string; log: string }[];
  mails: string[];
}

/**
 * The verdict of the judge on two contacts, one of whom was never acknowledged, after `forge` has spoilt
 * something.
 */
async function judged(forge: (stored: Stored) => void = () => {}): Promise<readonly Invariant[]> {
  const record = new FlowRecord();
  const [known, unknown] = [record.add(), record.add()];
  known.isAcknowledged = true;
  const stored: Stored = {
    contacts: [known, unknown].map((contact) => ({ email: addressOf(contact), runs: 1 })),
    runs: [1, 2].map((n) => ({ id: `run_${n}`, status: 'completed', log: LOG })),
    mails: [0, 1].flatMap((n) => [`Flow hello ${n}`, `Flow again ${n}`]),
  };
  forge(stored);
  const violations = new Violations();
  const judge = new FlowJudge(record, violations);
  stored.mails.forEach((subject, index) => {
    const mail = flowMailIn(subject);
    if (mail) judge.note(mail, `em_${index}`);
  });
  const query = async (text: string) => (text.includes('from contacts') ? stored.contacts : stored.runs);
  await judge.close({ query, close: async () => {} } as never);
  return [...violations.counts.keys()];
}

test('runs that are one a contact, with a mail a sending step, violate nothing', async () => {
  expect(await judged()).toEqual([]);
  // No answer said that the second contact is there.
  expect(
    await judged(({ contacts, runs, mails }) => void [contacts.pop(), runs.pop(), mails.splice(2)]),
  ).toEqual([]);
});

const FORGED: readonly (readonly [string, Invariant, (stored: Stored) => void])[] = [
  ['a lost contact', 'lost', ({ contacts }) => void contacts.shift()],
  [
    'a contact without a run',
    'runsOfContact',
    ({ contacts }) => void contacts.push({ ...contacts.shift(), runs: 0 } as never),
  ],
  [
    'a contact with two runs',
    'runsOfContact',
    ({ contacts }) => void contacts.push({ ...contacts.shift(), runs: 2 } as never),
  ],
  [
    'a run without its end',
    'wrongRun',
    ({ runs }) => void runs.push({ id: 'run_3', status: 'waiting', log: 'hello sent' }),
  ],
  [
    'a step that was left out',
    'wrongRun',
    ({ runs }) =>
      void runs.push({ ...(runs.pop() as Stored['runs'][0]), log: LOG.replace('mark updated, ', '') }),
  ],
  ['a mail that is missing', 'wrongRun', ({ mails }) => void mails.pop()],
  ['a mail that is there twice', 'stepTwice', ({ mails }) => void mails.push('Flow hello 0')],
  ['a mail to an unknown person', 'unexplained', ({ mails }) => void mails.push('Flow hello 9')],
];

test.each(FORGED)('%s is noticed', async (_, invariant, forge) => {
  expect(await judged(forge)).toEqual([invariant]);
});
