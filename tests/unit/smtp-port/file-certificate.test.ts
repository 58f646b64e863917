import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileCertificate } from '../../../src/http/certificates/file-certificate.ts';
import type { KeyPair } from '../../../src/platform/crypto/certificate-source.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../integration/transport/certificates.ts';
import { createTestAuthority } from '../../support/acme-certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'posthorn-certificate-'));
afterAll(() => rmSync(folder, { recursive: true }));
const [cert, secret] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];

const FIRST: KeyPair = { certificate: CERTIFICATE, key: PRIVATE_KEY };
const renewed = async (): Promise<KeyPair> => {
  const { own } = await createTestAuthority();
  const pair = await own({ notBefore: new Date(0), notAfter: new Date(Date.now() + 86_400_000) });
  return { certificate: pair.cert, key: pair.key };
};

test('a certificate in files is taken when both files fit, and told to those who follow', async () => {
  const log: string[] = [];
  const note = (_: object, text: string): void => void log.push(text);
  const files = new FileCertificate({ certificate: cert, key: secret }, { info: note, warn: note } as never);
  const told: KeyPair[] = [];
  files.follow((pair) => told.push(pair));
  writeFileSync(cert, FIRST.certificate);
  writeFileSync(secret, FIRST.key);
  await files.look();
  await files.look();
  expect([files.current, told, log]).toEqual([FIRST, [FIRST], []]);

  // A program that renews them writes one after the other.
  const second = await renewed();
  writeFileSync(cert, second.certificate);
  await files.look();
  await files.look();
  expect([files.current, told.length]).toEqual([FIRST, 1]);
  expect(log).toEqual([
    'The certificate in these files is not whole, or does not fit its key. The one before stays.',
  ]);
  writeFileSync(secret, second.key);
  await files.look();
  expect([files.current, told]).toEqual([second, [FIRST, second]]);
  expect(log.at(-1)).toBe('The SMTP ports use the renewed certificate');

  // Half of a longer chain, under the same key.
  writeFileSync(cert, `${second.certificate}\n${FIRST.certificate.slice(0, 200)}`);
  await files.look();
  expect([files.current, told.length]).toEqual([second, 2]);
  expect(log.at(-1)).toStartWith('The certificate in these files is not whole');

  rmSync(secret);
  await files.look();
  await files.look();
  expect(files.current).toEqual(second);
  expect(log.slice(3)).toEqual([
    expect.stringMatching(/^A file of the certificate cannot be read: .*key\.pem/),
  ]);
  const late: KeyPair[] = [];
  files.follow((pair) => late.push(pair));
  expect(late).toEqual([second]);
});

test('a certificate that a port could not take is given to it again at the next look', async () => {
  const files = new FileCertificate({ certificate: cert, key: secret }, { info: () => {}, warn: () => {} });
  writeFileSync(cert, FIRST.certificate);
  writeFileSync(secret, FIRST.key);
  let calls = 0;
  files.follow(() => {
    if (++calls === 1) throw new Error('not now');
  });
  expect(await files.look().catch((error: Error) => error.message)).toBe('not now');
  await files.look();
  expect([calls, files.current]).toEqual([2, FIRST]);
});
