import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign, verify } from '../../src/sending/webhooks/http/signature.ts';

const DOCS = join(import.meta.dir, '../../src/web/docs');
const page = await readFile(join(DOCS, 'texts/receivers.md'), 'utf8');
const spring = await readFile(join(DOCS, 'guides/spring.md'), 'utf8');

/** The one block of that language, and of that file where it names one, on a page. */
function snippet(language: string, from = page): string {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms');
  const blocks = [...from.matchAll(fence)].map(([, code]) => code ?? '');
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

/**
 * A program around the lines of a language: one case a line on its standard input, one `true` or `false` a
 * line as its answer.
 */
interface Driver {
  readonly language: string;
  readonly file: string;
  /** The page that has the lines; that of the receivers when left out. */
  readonly from?: string;
  readonly program: (lines: string) => string;
  readonly command: readonly [string, ...string[]];
}

// A case is its three texts in base64, apart by blanks.
const DRIVERS: readonly Driver[] = [
  {
    language: 'python',
    file: 'trial.py',
    command: ['python3', 'trial.py'],
    program: (lines) => `${lines}
import base64, sys
for line in sys.stdin.read().splitlines():
    secret, header, body = [base64.b64decode(part) for part in line.split(" ")]
    print(str(verify(secret.decode(), header.decode(), body)).lower())
`,
  },
  {
    language: 'php',
    file: 'trial.php',
    command: ['php', 'trial.php'],
    program: (lines) => `<?php
${lines}
foreach (explode("\n", stream_get_contents(STDIN)) as $line) {
    [$secret, $header, $body] = array_map('base64_decode', explode(' ', $line));
    echo verify($secret, $header, $body) ? "true\n" : "false\n";
}
`,
  },
  {
    language: 'ruby',
    file: 'trial.rb',
    command: ['ruby', 'trial.rb'],
    program: (lines) => `${lines}
require "base64"
$stdin.read.split("\n").each do |line|
  secret, header, body = line.split(" ", -1).map { |part| Base64.decode64(part) }
  puts verify(secret, header, body)
end
`,
  },
  {
    language: 'go',
    file: 'main.go',
    command: ['go', 'run', 'main.go'],
    program: (lines) => `package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

${lines}
func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		parts := strings.Split(input.Text(), " ")
		secret, _ := base64.StdEncoding.DecodeString(parts[0])
		header, _ := base64.StdEncoding.DecodeString(parts[1])
		body, _ := base64.StdEncoding.DecodeString(parts[2])
		fmt.Println(verify(string(secret), string(header), body, 300*time.Second))
	}
}
`,
  },
  {
    language: 'java WebhookSignature.java',
    from: spring,
    file: 'Trial.java',
    command: ['java', 'Trial.java'],
    // The class with `main` has to be the first of its file.
    program: (lines) =>
      `${lines.replace(
        'public class',
        `class Trial {
    public static void main(String[] args) throws Exception {
        for (String line : new String(System.in.readAllBytes()).split("\\n")) {
            String[] parts = line.split(" ", -1);
            byte[][] of = new byte[3][];
            for (int i = 0; i < 3; i++) of[i] = java.util.Base64.getDecoder().decode(parts[i]);
            System.out.println(WebhookSignature.verify(new String(of[0]), new String(of[1]), of[2], 300));
        }
    }
}

class`,
      )}`,
  },
];

const base64 = (text: string): string => Buffer.from(text).toString('base64');

for (const { language, from, file, program, command } of DRIVERS) {
  const isHere = Bun.which(command[0]) !== null;
  if (!isHere)
    console.warn(
      `Skipped: the lines of the receivers page for ${language}, since there is no ${command[0]} here.`,
    );
  test.skipIf(!isHere)(`the lines of the receivers page for ${language} agree in every case`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'receivers-'));
    await writeFile(join(folder, file), program(snippet(language, from)));
    const child = Bun.spawn([...command], {
      cwd: folder,
      stdin: new Blob([
        cases.map((one) => [one.secret, one.header, one.body].map(base64).join(' ')).join('\n'),
      ]),
      stderr: 'inherit',
    });
    const verdicts = (await new Response(child.stdout).text()).trim().split('\n');
    await rm(folder, { recursive: true });
    expect(verdicts).toEqual(cases.map(({ accepted }) => String(accepted)));
  });
}

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
