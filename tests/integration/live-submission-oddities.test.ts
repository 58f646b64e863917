import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { compareLines } from '../support/listed-lines.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { SmtpClient } from './transport/smtp-client.ts';
import { type Sink, startSink } from './transport/smtp-sink.ts';

// Each of these has made another mail server lose, change or refuse mail, as its public list of bugs says.

let service: LiveService;
let sink: Sink;
let port: number;
const published = new Map<string, string>();

beforeAll(async () => {
  port = await freePort();
  sink = await startSink();
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { SUBMISSION_PORT: String(port) },
  });
  const { data } = (await service.live.get(`/v1/domains/${service.domainId}`)).body;
  for (const { name, value } of data.dnsRecords) published.set(name, value);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

async function signedIn(): Promise<SmtpClient> {
  const client = await SmtpClient.open(port);
  await client.say('EHLO client.test');
  const login = Buffer.from(`\0svc\0${service.keys.live}`).toString('base64');
  expect((await client.say(`AUTH PLAIN ${login}`))[0]).toStartWith('235 ');
  return client;
}

/** The copy that leaves of octets that are written behind DATA, or behind one BDAT. */
async function copyOf(octets: string, { isChunk = false, mail = 'MAIL FROM:<shop@sender.example>' } = {}) {
  const client = await signedIn();
  const content = Buffer.from(octets, 'latin1');
  for (const command of [mail, 'RCPT TO:<ada@example.com>'])
    expect((await client.say(command))[0]).toStartWith('250 ');
  if (!isChunk) expect((await client.say('DATA'))[0]).toStartWith('354 ');
  const begin = isChunk ? `BDAT ${content.length} LAST\r\n` : '';
  client.sendOctets(Buffer.concat([Buffer.from(begin), content, Buffer.from(isChunk ? '' : '.\r\n')]));
  const [reply = ''] = await client.read();
  expect(reply).toStartWith('250 ');
  expect((await client.say('QUIT'))[0]).toStartWith('221 ');
  const id = /em_\w+/.exec(reply)?.[0] ?? '';
  await service.until(id, ({ status }) => status === 'sent');
  const copies = sink.received.filter(({ raw }) => raw.includes(` ${id};`));
  expect(copies.length).toBe(1);
  return copies[0]?.raw as Buffer;
}

const verdictsOf = async (raw: Buffer): Promise<readonly string[]> => {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => {
      const value = published.get(name);
      if (value === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
      return [value.match(/.{1,255}/g) ?? []];
    },
  });
  return results.map(({ algo, status }) => `${algo} ${status.result}`).toSorted();
};

const FROM = 'From: Shop <shop@sender.example>\r\n';
const TO = 'To: ada@example.com\r\n';

describe('a message leaves as it came, and its signatures hold,', () => {
  test.each([
    ['with a header alone', `${FROM}${TO}Subject: x\r\n`],
    [
      'with a boundary within a boundary',
      `${FROM}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=001\r\n\r\n--001\r\nContent-Type: multipart/alternative; boundary=0011\r\n\r\n--0011\r\n\r\na\r\n--0011--\r\n--001--\r\n`,
    ],
    [
      'with spaces at ends of lines and empty lines at its end',
      `${FROM}${TO}Subject:  two  spaces \r\n\r\ntext \t \r\n \r\n\r\n\r\n`,
    ],
    [
      'with a long folded subject',
      `${FROM}${TO}Subject: ${'word '.repeat(20)}\r\n ${'word '.repeat(20)}\r\n\t${'word'.repeat(20)}\r\n\r\ntext\r\n`,
    ],
    ['without Date and Message-ID', `${FROM}${TO}\r\ntext\r\n`],
    [
      'with an empty Reply-To and an empty Cc',
      `${FROM}${TO}Reply-To: \r\nCc:\r\nDate: Fri, 27 Nov 2026 10:00:00 +0000\r\n\r\ntext\r\n`,
    ],
    ['with raw octets in its header', `${FROM}${TO}Subject: Gr\xc3\xbc\xc3\x9fe \xfc\r\n\r\ntext\r\n`],
    [
      'with a comment behind MIME-Version',
      `${FROM}${TO}Mime-Version: 1.0 (Mac OS X Mail 16.0 \\(3696\\))\r\nContent-Type: text/plain\r\n\r\ntext\r\n`,
    ],
    [
      'with lines of 998 octets and more',
      `${FROM}${TO}\r\n${'\xc3\xbc'.repeat(499)}\r\n${'\xc3\xbc'.repeat(600)}\r\n`,
    ],
    [
      'with hidden recipients in old and folded forms',
      `${FROM}${TO}Bcc : hidden@example.com\r\nBCC:\r\n hidden2@example.com,\r\n\thidden3@example.com\r\n\r\ntext\r\n`,
    ],
    [
      'with the line ends of a program that adds a CR to those that are there',
      `${FROM}${TO}Subject: x\r\n\r\ntext\r\n\r\nmore\r\n`.replaceAll('\r\n', '\r\r\n'),
    ],
  ])('%s', async (_, message) => {
    const copy = await copyOf(message.replace(/^\./gm, '..'));
    expect(compareLines(Buffer.from(message, 'latin1'), copy, ['sender.example']).faults).toEqual([]);
    expect(await verdictsOf(copy)).toEqual(['ed25519-sha256 pass', 'rsa-sha256 pass']);
    expect(copy.toString('latin1')).not.toContain('hidden');
  });

  // Programs disagree about the end of such a header, so that its signatures hold for some of them alone.
  test('with a line in its header that is no field, whatever its signatures are worth', async () => {
    const message = `${FROM}X-Mailer no colon\r\n${TO}Subject: x\r\n\r\ntext\r\n`;
    const copy = await copyOf(message);
    expect(compareLines(Buffer.from(message), copy, ['sender.example']).faults).toEqual([]);
  });

  test('with dots that begin lines, in one chunk', async () => {
    const message = `${FROM}${TO}\r\n.\r\n..\r\n.leading\r\n`;
    const copy = await copyOf(message, { isChunk: true });
    expect(compareLines(Buffer.from(message), copy, ['sender.example']).faults).toEqual([]);
    expect(await verdictsOf(copy)).toEqual(['ed25519-sha256 pass', 'rsa-sha256 pass']);
  });
});

test.each([
  'MAIL FROM:<shop@sender.example> SIZE=13343 AUTH=<>',
  'MAIL FROM: <shop@sender.example>',
  'mail from:<shop@sender.example> body=8bitmime',
  'MAIL FROM:<shop@sender.example> ',
])('%p begins a message', async (mail) => {
  const message = `${FROM}${TO}\r\ntext\r\n`;
  expect((await copyOf(message, { mail })).toString()).toContain('text');
});

test('AUTH in lower case takes the user with the command', async () => {
  const client = await SmtpClient.open(port);
  await client.say('EHLO client.test');
  const coded = (text: string) => Buffer.from(text).toString('base64');
  expect((await client.say(`auth login ${coded('svc')}`))[0]).toStartWith('334 ');
  expect((await client.say(coded(service.keys.live)))[0]).toStartWith('235 ');
  client.end();
});

test('a message that is refused behind its last chunk is answered once', async () => {
  const client = await signedIn();
  await client.say('MAIL FROM:<shop@sender.example>');
  await client.say('RCPT TO:<ada@example.com>');
  client.sendOctets(Buffer.from('BDAT 10 LAST\r\nSubject: xNOOP\r\n'));
  expect((await client.read())[0]).toStartWith('554 5.6.0 ');
  expect((await client.read())[0]).toStartWith('250 ');
  client.end();
});

test.each(['<shop@sender.example> <eve@elsewhere.example>', 'shop@sender.example eve@elsewhere.example'])(
  'From: %s, which programs read in several ways, is refused at the port and over HTTP',
  async (from) => {
    const message = `From: ${from}\r\n${TO}Subject: Two\r\n\r\nHello\r\n`;
    const client = await signedIn();
    for (const command of ['MAIL FROM:<shop@sender.example>', 'RCPT TO:<ada@example.com>'])
      expect((await client.say(command))[0]).toStartWith('250 ');
    await client.say('DATA');
    expect((await client.say(`${message}.`))[0]).toMatch(/^554 .*The From field is malformed/);
    client.end();
    const headers = { authorization: `Bearer ${service.keys.live}`, 'content-type': 'message/rfc822' };
    const path = new URL('/v1/emails/raw', service.url);
    const answer = await fetch(path, { method: 'POST', headers, body: message });
    expect([answer.status, await answer.text()]).toEqual([
      422,
      expect.stringContaining('The From field is malformed'),
    ]);
  },
);
