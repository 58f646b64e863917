import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateDkimKey } from '../../../src/mail/dkim/key-pair.ts';
import { loadSigningKey } from '../../../src/mail/dkim/signing-key.ts';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import type { MessageAttachment, OutboundMessage } from '../../../src/mail/transport/transport.ts';
import { eventually } from '../../support/eventually.ts';
import { poolParts } from '../../support/pool-parts.ts';
import { aMessage } from '../../unit/transport/a-message.ts';
import { AUTHORITY } from './certificates.ts';
import { type Postfix, postfixMissing, startPostfix } from './postfix.ts';

const COUNT = 1_000;
const LIMITS = { signal: new AbortController().signal, deadlineMs: 60_000 };
// dkimpy is a Debian package, and Debian's own Python is the one that sees it.
const PYTHON = '/usr/bin/python3';
const dkimpyMissing = Bun.spawnSync([PYTHON, '-c', 'import dkim, nacl']).exitCode !== 0;

const relay = (postfix: Postfix) =>
  new RelayTransport(
    {
      host: '127.0.0.1',
      port: postfix.port,
      name: 'mx.receiver.test',
      tls: 'required',
      verifyCertificate: true,
      ca: AUTHORITY,
      ehloName: 'posthorn.test',
      credentials: null,
      connectMs: 10_000,
      silenceMs: 60_000,
    },
    poolParts(),
  );

const rsa = await generateDkimKey('rsa-sha256');
const ed25519 = await generateDkimKey('ed25519-sha256');
const dkim = [
  loadSigningKey({ domain: 'sender.example', selector: 'r', pem: rsa.privateKey }),
  loadSigningKey({ domain: 'sender.example', selector: 'e', pem: ed25519.privateKey }),
];
const published = {
  'r._domainkey.sender.example': rsa.dnsValue,
  'e._domainkey.sender.example': ed25519.dnsValue,
};

const TEXTS = [
  null,
  'plain\n',
  'Grüße aus Köln 👋\n.\n..\nFrom me\n',
  `${'a'.repeat(3_000)}\n`,
  'trailing  \n\n\n',
];
const HTMLS = [null, '<p>plain</p>', `<p>${'ü'.repeat(2_000)}</p>\n`, '<img src="cid:logo">\n'];
const SUBJECTS = ['Receipt', 'Grüße — 你好 👋', 's'.repeat(998), 'ö '.repeat(300).trim(), '  '];
const LOGO = {
  filename: 'logo.png',
  content: new Uint8Array([1, 0, 13, 10, 46, 10]),
  contentType: 'image/png',
  contentId: 'logo',
};
const FILE = {
  filename: 'Rechnung März.pdf',
  content: new Uint8Array(9_999).fill(46),
  contentType: null,
  contentId: null,
};
const EML = {
  filename: 'x.eml',
  content: Buffer.from('A: b\n\nü\n'),
  contentType: 'message/rfc822',
  contentId: null,
};
const FILES: MessageAttachment[][] = [[], [LOGO], [FILE], [LOGO, FILE, EML]];

/** One of a thousand combinations. */
const shape = (n: number): OutboundMessage => {
  const id = `em_${String(n).padStart(24, '0')}`;
  const pick = <T>(list: readonly T[], stride: number): T => list[Math.floor(n / stride) % list.length] as T;
  const person = { name: n % 3 ? null : 'Jörg "J" Müller, Dr.', address: `r${n}@receiver.test` };
  return aMessage({
    emailId: id,
    messageId: `<${id}@sender.example>`,
    to: [person],
    recipients: [person.address],
    text: pick(TEXTS, 1),
    html: pick(HTMLS, 5),
    subject: pick(SUBJECTS, 20),
    attachments: pick(FILES, 100),
    headers: n % 7 ? [] : [{ name: 'X-Long', value: 'x'.repeat(1_500) }],
    unsubscribe: n % 2 ? { url: `https://t.sender.example/${'u'.repeat(100)}`, mailto: null } : null,
    dkim,
  });
};

const read = async (postfix: Postfix, files: string[]) => {
  const asked = join(postfix.maildir, 'asked.json');
  await writeFile(asked, JSON.stringify({ files, keys: published }));
  const child = Bun.spawn([PYTHON, join(import.meta.dir, 'read_mail.py'), asked], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const lines = (await new Response(child.stdout).text()).trim().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map((mail) => [mail.messageId, mail]));
};

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
// Line ends are CRLF on the wire, and a part without a final one may be given one on the way.
const lines = (text: string | null) =>
  text === null ? null : text.replaceAll('\r\n', '\n').replace(/\n*$/, '\n');

const reason =
  postfixMissing() ??
  (dkimpyMissing ? 'the Debian packages python3-dkim and python3-nacl are not installed' : null);
if (reason !== null)
  console.log(`Not shown here, since ${reason}: what a real Postfix receives, verified by dkimpy.`);

describe.if(reason === null)('a strict Postfix', () => {
  test(`takes ${COUNT} messages of every shape over TLS; Python reads back what was sent and dkimpy verifies both signatures`, async () => {
    await using postfix = await startPostfix();
    const transport = relay(postfix);
    const messages = Array.from({ length: COUNT }, (_, n) => shape(n));
    const outcomes = await Promise.all(messages.map((message) => transport.send(message, LIMITS)));
    await transport.close();
    expect(outcomes.flat().filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
    const files = await eventually(
      'every message is in the mailbox',
      async () => {
        const delivered = await postfix.delivered();
        return delivered.length >= COUNT ? delivered : undefined;
      },
      { withinMs: 120_000, everyMs: 100 },
    );
    expect(files.length).toBe(COUNT);

    const found = await read(postfix, files);
    for (const message of messages) {
      const mail = found.get(message.messageId);
      expect(mail).toMatchObject({
        subject: message.subject.trim() || null,
        signatures: [true, true],
        defects: [],
      });
      expect(lines(mail.text)).toBe(
        lines(message.text ?? (message.html === null && message.attachments.length === 0 ? '' : null)),
      );
      expect(lines(mail.html)).toBe(lines(message.html));
      expect(mail.attachments.sort()).toEqual(
        message.attachments.map((file) => [file.filename, sha256(file.content)]).sort(),
      );
    }
  });

  test('reports refusals recipient by recipient with their reasons', async () => {
    await using postfix = await startPostfix();
    const transport = relay(postfix);
    const people = ['ok@receiver.test', 'gone@receiver.test', 'full@receiver.test', 'x@foreign.test'];
    const outcomes = await transport.send(aMessage({ recipients: people }), LIMITS);
    await transport.close();
    expect(
      outcomes.map(({ outcome, enhancedCode, fault, subType }) => [outcome, enhancedCode, fault, subType]),
    ).toEqual([
      ['accepted', '2.0.0', null, null],
      ['refused', '5.1.1', 'recipient', 'NoEmail'],
      ['refused', '5.2.2', 'recipient', 'MailboxFull'],
      ['refused', '5.7.1', 'infrastructure', 'PolicyRejected'],
    ]);
  });
});
