import { expect, test } from 'bun:test';
import { RateEvidence } from '../../../src/mail/transport/limits/rate-evidence.ts';

test('one recipient that is refused again and again shows no rate of all mail', () => {
  const evidence = new RateEvidence();
  for (let at = 0; at < 50; at++) expect(evidence.refused('a@x.test', at)).toBe(false);
});

test('the third recipient that is refused shows a rate of all mail, until a later mail is taken', () => {
  const evidence = new RateEvidence();
  const refused = (at: number) =>
    ['a@x.test', 'b@x.test', 'c@x.test', 'a@x.test'].map((one) => evidence.refused(one, at));
  expect(refused(10)).toEqual([false, false, true, true]);
  evidence.accepted(10);
  expect(evidence.refused('a@x.test', 20)).toBe(true);
  evidence.accepted(11);
  expect(refused(30)).toEqual([false, false, true, true]);
});

test('a mail that was on its way when the first was refused shows nothing', () => {
  const evidence = new RateEvidence();
  expect(evidence.refused('a@x.test', 10)).toBe(false);
  expect(evidence.refused('b@x.test', 12)).toBe(false);
  evidence.accepted(9);
  expect(evidence.refused('c@x.test', 13)).toBe(true);
});
