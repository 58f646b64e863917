import { describe, expect, test } from 'bun:test';
import { allowsHost, policyId, readPolicy } from '../../../src/mail/transport/direct/sts-policy.ts';
import { costMs } from '../../support/own-time.ts';

const POLICY =
  'version: STSv1\r\nmode: enforce\r\nmx: mail.receiver.test\r\nmx: *.backup.test\r\nmax_age: 604800\r\n';

describe('parsing an MTA-STS policy', () => {
  test('with all its hosts', () =>
    expect(readPolicy(POLICY)).toEqual({
      mode: 'enforce',
      mx: ['mail.receiver.test', '*.backup.test'],
      maxAgeMs: 604_800_000,
    }));
  test('with bare line feeds, white space and unknown fields', () =>
    expect(readPolicy('version : STSv1\nfuture: x\nmode:testing \nmx:\tA.test\nmax_age: 1\n')).toEqual({
      mode: 'testing',
      mx: ['a.test'],
      maxAgeMs: 1_000,
    }));
  test('with an age of a year at most', () =>
    expect(readPolicy(POLICY.replace('604800', '9999999999'))?.maxAgeMs).toBe(31_557_600_000));
  test('without hosts only in mode none', () => {
    expect(readPolicy('version: STSv1\nmode: none\nmax_age: 1')).toMatchObject({ mode: 'none', mx: [] });
    expect(readPolicy('version: STSv1\nmode: enforce\nmax_age: 1')).toBeNull();
  });
  for (const [from, to] of [
    ['STSv1', 'STSv2'],
    ['enforce', 'maybe'],
    ['604800', '-1'],
    ['max_age', 'age'],
  ] as const)
    test(`not with ${to} for ${from}`, () => expect(readPolicy(POLICY.replace(from, to))).toBeNull());
  test('in bounded time, however much white space there is', () => {
    const cost = costMs(() =>
      expect(readPolicy(`${POLICY}a: ${' '.repeat(60_000)}b`)).toMatchObject({ mode: 'enforce' }),
    );
    expect(cost).toBeLessThan(500);
  });
  test('not from a web page', () => expect(readPolicy('<html></html>')).toBeNull());
});

test('MTA-STS hosts match whole, a wildcard one label', () => {
  const policy = readPolicy(POLICY);
  expect(allowsHost(policy, 'MAIL.receiver.test')).toBe(true);
  expect(allowsHost(policy, 'mx1.backup.test')).toBe(true);
  for (const host of [
    'backup.test',
    'a.b.backup.test',
    'evil.test',
    'xmail.receiver.test',
    'mail.receiver.test.evil.test',
  ])
    expect(allowsHost(policy, host)).toBe(false);
});

test('MTA-STS allows any host without a policy and in testing mode', () => {
  expect(allowsHost(null, 'x.test')).toBe(true);
  expect(allowsHost(readPolicy(POLICY.replace('enforce', 'testing')), 'x.test')).toBe(true);
});

test('the MTA-STS id is that of the one record', () => {
  expect(policyId(['v=STSv1; id=20260101T0;'])).toBe('20260101T0');
  expect(policyId(['other', 'v=STSv1;id=1'])).toBe('1');
  for (const records of [
    [],
    ['v=STSv1; id=1', 'v=STSv1; id=2'],
    ['v=STSv1'],
    ['v=STSv12; id=1'],
    ['v=STSv1; id=a-b'],
  ])
    expect(policyId(records)).toBeNull();
});
