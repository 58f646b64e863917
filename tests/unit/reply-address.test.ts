import { describe, expect, test } from 'bun:test';
import { readReplyToken, replyAddress } from '../../src/mail/received/reply-address.ts';
import { onlyKey, secretKeyOf } from '../../src/platform/crypto/secret-key.ts';
import { createSigner, signerOf } from '../../src/platform/crypto/signer.ts';
import { mintId } from '../../src/platform/db/ids.ts';

const OLD = 'an old secret key of thirty-two characters';
const NEW = 'a new secret key of thirty-two characters!';
const signer = createSigner(OLD);
const owner = { workspaceId: 'ws_01m7xj1rwzprnwr10308attx', livemode: true };
const emailId = 'em_01m7xj1rwzprnwr10308attx';
const address = replyAddress(emailId, owner, 'acme.example', signer);
const token = address.slice(2, address.indexOf('@'));

describe('the address for replies', () => {
  test('names its email, whatever case servers write it in', () => {
    expect(address).toMatch(/^r\+[0-9a-hjkmnp-tv-z]{48}@acme\.example$/);
    for (const written of [token, token.toUpperCase()])
      expect(readReplyToken(written, signer)?.emailId).toBe(emailId);
    for (let count = 0; count < 200; count++) {
      const id = mintId('em', count * 1e9);
      const made = replyAddress(id, owner, 'a.example', signer);
      expect(readReplyToken(made.slice(2, made.indexOf('@')), signer)?.emailId).toBe(id);
    }
  });

  test('keeps to the 64 octets of a local part, and says nothing of its email', () => {
    expect(address.indexOf('@')).toBeLessThanOrEqual(64);
    const next = replyAddress(`${emailId.slice(0, -1)}y`, owner, 'acme.example', signer);
    const same = [...token].filter((letter, place) => letter === next[place + 2]).length;
    expect(token).not.toContain(emailId.slice(3, 13));
    expect(same).toBeLessThan(15);
  });

  test('is of one workspace and one environment', () => {
    const read = readReplyToken(token, signer);
    expect(read?.isOf(owner)).toBe(true);
    expect(read?.isOf({ ...owner, livemode: false })).toBe(false);
    expect(read?.isOf({ ...owner, workspaceId: 'ws_01m7xj1rwzprnwr10308atty' })).toBe(false);
  });

  test('cannot be made or changed without the key', () => {
    expect(readReplyToken(token, createSigner(NEW))).toBeNull();
    for (let place = 0; place < token.length; place++) {
      const letter = token[place] === '0' ? '1' : '0';
      expect(readReplyToken(token.slice(0, place) + letter + token.slice(place + 1), signer)).toBeNull();
    }
    for (const other of ['', token.slice(1), `${token}0`, 'order-1842', `${token.slice(0, -1)}u`])
      expect(readReplyToken(other, signer)).toBeNull();
  });

  test('outlives a rotation of SECRET_KEY until the old key is revoked', () => {
    const [current, old] = [secretKeyOf(NEW), secretKeyOf(OLD)];
    const keys = { ...onlyKey(NEW), current, others: [old], first: old, named: true };
    const after = signerOf(() => keys);
    expect(readReplyToken(token, after)?.isOf(owner)).toBe(true);
    const revoked = signerOf(() => ({ ...keys, revoked: new Set([old.id]) }));
    expect(readReplyToken(token, revoked)).toBeNull();
  });
});
