import { expect, test } from 'bun:test';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { leaveAll, leavingDoor } from '../../src/sending/inbound/commands.ts';
import { leaveAddress } from '../../src/sending/tracking/api.ts';

const signer = createSigner('only-for-tests-only-for-tests-only');
const EMAIL = 'em_01m7xj1rwzprnwr10308attx';
const addressOf = (recipient: number, host = 'bounces.sender.example'): string =>
  leaveAddress({ emailId: EMAIL, recipient }, host, signer);

/** Counts who leaves; the recipients in `gone` are of emails that are not kept. */
function leaving(gone: readonly number[] = []) {
  const left: number[] = [];
  const leaveByMail = ({ recipient }: { readonly recipient: number }): Promise<boolean> => {
    left.push(recipient);
    return Promise.resolve(!gone.includes(recipient));
  };
  return { left, parts: { signer, leaveByMail } };
}

test('one mail has each recipient leave once, however many hosts it names them at', async () => {
  const { left, parts } = leaving();
  const hosts = Array.from({ length: 100 }, (_, n) => `h${n}.example`);
  const addresses = [...hosts.map((host) => addressOf(0, host).toUpperCase()), addressOf(1)];
  expect(await leaveAll(parts, addresses)).toBe('left');
  expect(left).toEqual([0, 1]);
});

test('others leave also where the email of one is not kept any more', async () => {
  const { left, parts } = leaving([0]);
  expect(await leaveAll(parts, [addressOf(0), addressOf(1)])).toBe('gone');
  expect(left).toEqual([0, 1]);
  const mail = { raw: Buffer.alloc(0), recipients: [addressOf(0)], client: '', helo: '', from: '' };
  expect(leavingDoor(parts).take(mail)).rejects.toThrow('use the link in the email');
});

test('other addresses have no one leave', async () => {
  const { left, parts } = leaving();
  expect(await leaveAll(parts, ['u+0@sender.example', 'support@sender.example'])).toBe('none');
  expect(left).toEqual([]);
});
