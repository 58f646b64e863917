import { expect, test } from 'bun:test';
import {
  newTotpSecret,
  repeatedStep,
  stepOfCode,
  totpCode,
  totpUri,
} from '../../../src/http/auth/passwords/totp.ts';

/** `12345678901234567890`, the secret of the test vectors. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test('the codes are those of RFC 6238, appendix B, and of RFC 4226, appendix D', () => {
  const vectors = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const;
  for (const [seconds, code] of vectors) expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(code);
  const hotp = [
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489',
  ];
  expect(hotp.map((_, counter) => totpCode(SECRET, counter))).toEqual(hotp);
});

test('a clock may be off by one step, and no step is taken twice or after a later one', () => {
  const now = 1_000 * 30_000 + 12_345;
  const steps = [998, 999, 1_000, 1_001, 1_002].map((step) =>
    stepOfCode(SECRET, totpCode(SECRET, step), now, 0),
  );
  expect(steps).toEqual([null, 999, 1_000, 1_001, null]);
  expect(stepOfCode(SECRET, totpCode(SECRET, 1_000), now, 1_000)).toBeNull();
  expect(stepOfCode(SECRET, totpCode(SECRET, 999), now, 1_000)).toBeNull();
  // A used code and a late one are distinguished from a wrong one.
  expect(
    [999, 1_000, 1_001, 998].map((step) => repeatedStep(SECRET, totpCode(SECRET, step), now, 1_000)),
  ).toEqual([999, 1_000, null, null]);
  for (const code of ['', '12345', '1234567', 'abcdef', '１２３４５６', ' 50471'])
    expect(stepOfCode(SECRET, code, now, 0)).toBeNull();
});

test('secrets have 160 bits and fit into the address that authenticators scan', () => {
  const secrets = Array.from({ length: 100 }, newTotpSecret);
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(totpUri(SECRET, 'ada+x@acme.example')).toBe(
    `otpauth://totp/Posthorn:ada%2Bx%40acme.example?secret=${SECRET}&issuer=Posthorn`,
  );
});
