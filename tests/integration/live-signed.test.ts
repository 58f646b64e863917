import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

/** Signatures that real programs have made, checked by them in what has left. */
const home = mkdtempSync(join(tmpdir(), 'posthorn-signed-'));
let service: LiveService;
let port: number;

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({ environment: { SUBMISSION_PORT: String(port) } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

const run = async (command: readonly string[], input: string | Buffer = ''): Promise<string> => {
  const child = Bun.spawn([...command], {
    cwd: home,
    stdin: Buffer.from(input as string, 'latin1'),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, GNUPGHOME: home },
  });
  const [out, said] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${said}`);
  return Buffer.from(out).toString('latin1') + said;
};

const LINES = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n');
const HEADER = 'From: shop@sender.example\r\nTo: ada@example.com\r\nSubject: Signed\r\n';

/** Submits a message and answers what left of it. */
async function sent(message: string): Promise<string> {
  const answer = await fetch(new URL('/v1/emails/raw?trackClicks=true&trackOpens=true', service.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'message/rfc822' },
    body: Buffer.from(message, 'latin1'),
  });
  return left(((await answer.json()) as { data: { id: string } }).data.id);
}

async function left(id: string): Promise<string> {
  await service.until(id, ({ status }) => status === 'delivered');
  const headers = { authorization: `Bearer ${service.keys.live}` };
  const shown = await fetch(new URL(`/v1/emails/${id}/raw`, service.url), { headers });
  return Buffer.from(await shown.arrayBuffer()).toString('latin1');
}

const lacks = (...programs: readonly string[]): boolean => {
  const missing = programs.filter((program) => Bun.which(program) === null);
  if (missing.length > 0) console.log(`Not shown here, since ${missing.join(', ')} is not installed.`);
  return missing.length > 0;
};

const CONTENT = LINES(
  'Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<p>Gr=C3=BC=C3=9Fe <a href=3D"https://shop.example/">here</a> \n-- =20\n',
);

describe.if(!lacks('gpg'))('PGP/MIME', () => {
  test('that gpg has signed verifies in what has left', async () => {
    await run([
      'gpg',
      '--batch',
      '--passphrase',
      '',
      '--quick-gen-key',
      'shop@sender.example',
      'ed25519',
      'sign',
    ]);
    const signature = await run(['gpg', '--batch', '--armor', '--detach-sign', '-o', '-'], CONTENT);
    const message = `${HEADER}MIME-Version: 1.0\r\nContent-Type: multipart/signed; boundary="s"; micalg=pgp-sha512;\r\n protocol="application/pgp-signature"\r\n\r\n--s\r\n${CONTENT}\r\n--s\r\nContent-Type: application/pgp-signature\r\n\r\n${LINES(signature)}\r\n--s--\r\n`;
    const copy = await sent(message);
    const [, content = '', armored = ''] =
      /\r\n--s\r\n([\s\S]*)\r\n--s\r\nContent-Type: application\/pgp-signature\r\n\r\n([\s\S]*)\r\n--s--/.exec(
        copy,
      ) ?? [];
    writeFileSync(join(home, 'content'), Buffer.from(content, 'latin1'));
    writeFileSync(join(home, 'signature.asc'), armored);
    expect(await run(['gpg', '--batch', '--verify', 'signature.asc', 'content'])).toContain('Good signature');
  });
});

describe.if(!lacks('openssl'))('S/MIME', () => {
  const signed = async (...how: readonly string[]): Promise<string> => {
    await run(
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=shop/emailAddress=shop@sender.example'.split(
        ' ',
      ),
    );
    const made = await run(
      ['openssl', 'smime', '-sign', ...how, '-signer', 'cert.pem', '-inkey', 'key.pem', '-crlfeol'],
      CONTENT,
    );
    return HEADER + LINES(made);
  };
  const verified = async (copy: string): Promise<string> => {
    writeFileSync(join(home, 'copy.eml'), Buffer.from(copy, 'latin1'));
    return run('openssl smime -verify -in copy.eml -CAfile cert.pem'.split(' '));
  };

  test('with its signature beside it verifies in what has left', async () => {
    expect(await verified(await sent(await signed('-binary')))).toContain('Verification successful');
  });
  test('with its content within the signature verifies in what has left', async () => {
    expect(await verified(await sent(await signed('-nodetach', '-binary')))).toContain(
      'Verification successful',
    );
  });
});

/** Mail that a real client submits by SMTP, with its password in a separate file. */
describe('the mail of', () => {
  const idOf = async (before: ReadonlySet<string>): Promise<string> => {
    const { data } = (await service.live.get('/v1/emails?limit=100')).body;
    return data.find(({ id }: { id: string }) => !before.has(id))?.id ?? '';
  };
  const known = async (): Promise<ReadonlySet<string>> =>
    new Set((await service.live.get('/v1/emails?limit=100')).body.data.map(({ id }: { id: string }) => id));

  test.if(!lacks('msmtp'))('msmtp leaves as it came', async () => {
    const before = await known();
    writeFileSync(
      join(home, 'msmtprc'),
      `account default\nhost 127.0.0.1\nport ${port}\nfrom shop@sender.example\nauth plain\nuser svc\npassword ${service.keys.live}\ntls off\n`,
      { mode: 0o600 },
    );
    const message = `${HEADER}Date: Fri, 27 Nov 2026 10:00:00 +0100\r\nMessage-ID: <m@forum.example>\r\nX-Raw: \xfc\r\n\r\n.\r\nGr\xfc\xdfe\r\n`;
    await run(['msmtp', '-C', 'msmtprc', 'ada@example.com'], message.replaceAll('\r\n', '\n'));
    expect((await left(await idOf(before))).endsWith(message)).toBe(true);
  });

  test.if(!lacks('git', 'perl'))('git send-email keeps its thread and its patch', async () => {
    const git = 'git -c user.name=Ada -c user.email=shop@sender.example'.split(' ');
    await run([...git, 'init', '-q', 'repository']);
    writeFileSync(join(home, 'repository', 'a'), 'Gr\xfc\xdfe \t\n'.repeat(30));
    const inside = [...git, '-C', 'repository'];
    await run([...inside, 'add', 'a']);
    await run([...inside, 'commit', '-qm', 'area: add it']);
    const patch = await run([...inside, 'format-patch', '-1', '--stdout', '--thread', '--attach']);
    const body = LINES(patch.slice(patch.indexOf('\n') + 1)).replace(
      /From: [^\r]*/,
      'From: Ada <shop@sender.example>\r\nTo: ada@example.com',
    );
    const copy = await sent(body);
    expect(copy.slice(copy.indexOf('\r\n\r\n'))).toBe(body.slice(body.indexOf('\r\n\r\n')));
    expect(/^Message-I[dD]: .*$/m.exec(copy)?.[0]).toBe(/^Message-I[dD]: .*$/m.exec(body)?.[0] ?? '');
  });
});
