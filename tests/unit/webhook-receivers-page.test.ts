import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign, verify } from '../../src/modules/webhooks/http/signature.ts';

const page = await readFile(join(import.meta.dir, '../../src/modules/docs/receivers.md'), 'utf8');

/** The one block of that language under the heading "Verify the signature". */
function snippet(language: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code]) => code ?? '',
  );
  expect(blocks).toHaveLength(1);
  return blocks[0] ?? '';
}

const secret = `whsec_${'Zm9v'.repeat(10)}abc`;
const body = '{"id":"evt_1","type":"delivered","note":"naïve ☃"}';
const now = Math.floor(Date.now() / 1000);
const header = sign(secret, now, body);

interface Case {
  readonly name: string;
  readonly secret: string;
  readonly header: string;
  readonly body: string;
  readonly accepted: boolean;
}
const good = { secret, header, body };
const cases: readonly Case[] = [
  { ...good, name: 'what we signed', accepted: true },
  { ...good, name: 'signed a while ago', header: sign(secret, now - 200, body), accepted: true },
  { ...good, name: 'signed by a clock ahead', header: sign(secret, now + 200, body), accepted: true },
  { ...good, name: 'a changed body', body: body.replace('evt_1', 'evt_2'), accepted: false },
  { ...good, name: 'a stale t', header: sign(secret, now - 400, body), accepted: false },
  { ...good, name: 'a t far ahead', header: sign(secret, now + 400, body), accepted: false },
  {
    ...good,
    name: 'a t changed after signing',
    header: header.replace(`t=${now}`, `t=${now + 1}`),
    accepted: false,
  },
  { ...good, name: 'the old secret', secret: `whsec_${'b'.repeat(43)}`, accepted: false },
  {
    ...good,
    name: 'a signature of the body alone',
    header: `t=${now},v1=${new Bun.CryptoHasher('sha256', secret).update(body).digest('hex')}`,
    accepted: false,
  },
  { ...good, name: 'no signature', header: `t=${now}`, accepted: false },
  { ...good, name: 'an empty header', header: '', accepted: false },
  { ...good, name: 'a signature cut short', header: header.slice(0, -2), accepted: false },
  { ...good, name: 'a line break at the end', header: `${header}\n`, accepted: false },
];

describe('the Node.js lines of the receivers page', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'receivers-'));
    await writeFile(join(folder, 'verify.mjs'), snippet('js'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    const { verify } = (await import(join(folder, 'verify.mjs'))) as {
      verify(secret: string, header: string, rawBody: string | Uint8Array): boolean;
    };
    expect(verify(one.secret, one.header, one.body)).toBe(one.accepted);
    expect(verify(one.secret, one.header, Buffer.from(one.body))).toBe(one.accepted);
  });
});

const python = Bun.which('python3');
if (python === null)
  console.warn('Skipped: the Python lines of the receivers page, since there is no python3 here.');

describe.skipIf(python === null)('the Python lines of the receivers page', () => {
  test('agree in every case', async () => {
    const driver = `${snippet('python')}
import json, sys
cases = json.load(sys.stdin)
print(json.dumps([verify(c["secret"], c["header"], c["body"].encode()) for c in cases]))
`;
    const child = Bun.spawn([python ?? '', '-c', driver], {
      stdin: new Blob([JSON.stringify(cases)]),
      stderr: 'inherit',
    });
    const verdicts: unknown = await new Response(child.stdout).json();
    expect(verdicts).toEqual(cases.map(({ accepted }) => accepted));
  });
});

test('the example is signed with the secret that the page gives', () => {
  const [, signed = '', sent = ''] = /^X-Svc-Signature: (.*)\n\n(.*)$/m.exec(snippet('http')) ?? [];
  const [, example = ''] = /`(whsec_[\w-]{43})`/.exec(page) ?? [];
  const at = Date.parse((JSON.parse(sent) as { occurredAt: string }).occurredAt) / 1000;
  expect(verify(example, signed, sent, at, 0)).toBe(true);
});

test('the page has lines for the languages people ask for', () => {
  for (const language of ['js', 'python', 'go', 'php', 'ruby'])
    expect(snippet(language)).toContain('verify(');
});
