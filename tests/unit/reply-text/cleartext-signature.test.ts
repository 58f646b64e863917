import { expect, test } from 'bun:test';
import { withoutSignatureFrame } from '../../../src/mail/inbound/reply-text/cleartext-signature.ts';
import { replyText } from '../../../src/mail/inbound/reply-text/reply-text.ts';

const BEGIN = '-----BEGIN PGP SIGNED MESSAGE-----';
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----';
const END = '-----END PGP SIGNATURE-----';

const frameless = (lines: readonly string[]): string[] => withoutSignatureFrame(lines.join('\n')).split('\n');

test('the frame of a signed text is left out, and what is around it stays', () => {
  const signed = ['above', SIGNATURE, BEGIN, 'Hash: SHA256', '', 'a', '- -- b', SIGNATURE, 'x', END, 'below'];
  expect(frameless(signed)).toEqual(['above', SIGNATURE, 'a', '-- b', 'below']);
  expect(frameless([BEGIN, '', 'a', SIGNATURE, 'x'])).toEqual(['a']);
});

test.each([
  ['no beginning', ['', 'a', SIGNATURE, 'x', END]],
  ['no empty line above the text', [BEGIN, 'Hash: SHA256', 'a', SIGNATURE, 'x', END]],
  ['eleven fields', [BEGIN, ...Array<string>(11).fill('Hash: SHA256'), '', 'a', SIGNATURE, 'x', END]],
  ['no signature', [BEGIN, '', 'a', 'b']],
])('a text with %s stays as it is', (_, lines) => expect(frameless(lines)).toEqual(lines));

test('a Turkish separator in capital letters is one', () =>
  expect(replyText({ text: 'Tamam.\n\n---- ORİJİNAL MESAJ ----\n\nMerhaba', html: null })).toBe('Tamam.'));
