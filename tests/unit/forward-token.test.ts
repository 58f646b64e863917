import { describe, expect, test } from 'bun:test';
import { returnPathFor, srsPathFor, tokenOf } from '../../src/mail/inbound/verp.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { DAY_MS } from '../../src/platform/time/clock.ts';
import { forwardToken, readReturnToken, returnToken } from '../../src/sending/emails/send/return-token.ts';

const signer = createSigner('only-for-tests-only-for-tests-only');
const BORN = Date.UTC(2026, 10, 28, 12);
const destination = { emailId: mintId('em', BORN), recipient: 4 };
const token = forwardToken(destination, signer);
const address = srsPathFor(token, 'bounces.sender.example');

describe('the return path of a forwarded message', () => {
  test('has the form of SRS0, fits a local part, and survives a change of case', () => {
    expect(address).toMatch(/^SRS0=[0-9a-z]{16}=[0-9a-z]{2}=4=[0-9a-z]{24}@bounces\.sender\.example$/);
    expect(address.indexOf('@')).toBeLessThanOrEqual(64);
    for (const seen of [address, address.toUpperCase(), address.replace('SRS0=', 'srs0+')])
      expect(readReturnToken(tokenOf(seen) ?? '', signer, BORN)).toEqual(destination);
  });

  test('is valid for thirty days', () => {
    expect(readReturnToken(token, signer, BORN + 30 * DAY_MS)).toEqual(destination);
    expect(readReturnToken(token, signer, BORN + 31 * DAY_MS)).toBeNull();
    // The clock of another instance may be behind.
    expect(readReturnToken(token, signer, BORN - DAY_MS)).toEqual(destination);
    expect(readReturnToken(token, signer, BORN - 2 * DAY_MS)).toBeNull();
  });

  test('cannot be made of that of an email, nor with another day', () => {
    const plain = returnToken(destination, signer);
    expect(readReturnToken(`${plain}${token.slice(-3)}`, signer, BORN)).toBeNull();
    expect(readReturnToken(token.slice(0, -3), signer, BORN)).toBeNull();
    const later = forwardToken({ ...destination, emailId: mintId('em', BORN + DAY_MS) }, signer).slice(-2);
    expect(readReturnToken(token.slice(0, -2) + later, signer, BORN)).toBeNull();
    expect(tokenOf(returnPathFor(plain, 'sender.example'))).toBe(plain);
  });
});
