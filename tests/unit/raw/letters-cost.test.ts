import { expect, test } from 'bun:test';
import { parsable } from '../../../src/mail/raw/repair/parsable.ts';
import { costMs } from '../../support/own-time.ts';

// Texts whose charset is named wrong: a stranger chooses their length.

const MEGABYTE = 1_048_576;
const HEAD = 'From: a@a.example\r\nSubject: s\r\nMIME-Version: 1.0\r\n';
const TEXTS = {
  'UTF-7': ['utf-7', `${'+AGE-'.repeat(14)}\r\n`],
  'octets that are no UTF-8': ['utf-8', `${'\xff'.repeat(70)}\r\n`],
  'Windows-1252 that says UTF-8': ['utf-8', `${'Gr\xfc\xdfe '.repeat(12)}\r\n`],
  'a charset of another library': ['cp850', `${'Gr\x81\xe1e '.repeat(12)}\r\n`],
} as const;

/** A text of about so many octets. */
const part = (kind: keyof typeof TEXTS, octets: number): string => {
  const [charset, line] = TEXTS[kind];
  return `Content-Type: text/plain; charset=${charset}\r\n\r\n${line.repeat(octets / line.length)}`;
};
const whole = (kind: keyof typeof TEXTS, octets: number): Buffer =>
  Buffer.from(HEAD + part(kind, octets), 'latin1');

const KINDS = Object.keys(TEXTS) as (keyof typeof TEXTS)[];

test.each(KINDS)('a text of 30 MB costs little time: %s', (kind) => {
  const message = whole(kind, 30 * MEGABYTE);
  expect(costMs(() => parsable(message))).toBeLessThan(400);
});

test.each(KINDS)('a text of 1 MB costs little time: %s', (kind) => {
  const message = whole(kind, 1_000_000);
  expect(costMs(() => parsable(message))).toBeLessThan(400);
});

test('texts of a megabyte are mended over all parts, and no more', () => {
  const kind = 'Windows-1252 that says UTF-8';
  const texts = Array.from({ length: 60 }, () => `--b\r\n${part(kind, MEGABYTE / 2 - 1_000)}\r\n`).join('');
  const message = Buffer.from(
    `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${texts}--b--\r\n`,
    'latin1',
  );
  let read: Buffer = message;
  expect(costMs(() => (read = parsable(message)))).toBeLessThan(400);
  expect(read.toString('latin1').match(/base64/g)).toHaveLength(2);
});

test.each(KINDS)('a text of 30 MB takes no memory besides the message: %s', async (kind) => {
  const [charset, line] = TEXTS[kind];
  const script = `
    const { parsable } = await import(${JSON.stringify(`${import.meta.dir}/../../../src/mail/raw/repair/parsable.ts`)});
    const head = ${JSON.stringify(`${HEAD}Content-Type: text/plain; charset=${charset}\r\n\r\n`)};
    const message = Buffer.alloc(${30 * MEGABYTE}, Buffer.from(${JSON.stringify(line)}, 'latin1'));
    message.write(head, 'latin1');
    const before = process.resourceUsage().maxRSS;
    parsable(message);
    console.log(process.resourceUsage().maxRSS - before);`;
  const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
  const grownKiB = Number(await new Response(run.stdout).text());
  expect(await run.exited).toBe(0);
  expect(grownKiB).toBeWithin(0, 96 * 1_024);
});

test('an html that begins with blanks costs little time', () => {
  const html = `<meta charset${' '.repeat(480)}=${' '.repeat(480)}\xff`;
  const parts = `--b\r\nContent-Type: text/html; charset=zz\r\n\r\n${html}\r\n`.repeat(1_000);
  const head = `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n`;
  const message = Buffer.from(`${head}${parts}--b--\r\n`, 'latin1');
  expect(costMs(() => parsable(message))).toBeLessThan(200);
});
