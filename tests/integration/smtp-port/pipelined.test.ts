import { afterAll, describe, expect, test } from 'bun:test';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { CERTIFICATE, PRIVATE_KEY } from '../transport/certificates.ts';
import { SmtpClient } from '../transport/smtp-client.ts';
import { openInboundSink, replies } from './inbound-sink.ts';

const current = { certificate: CERTIFICATE, key: PRIVATE_KEY };
const sink = await openInboundSink({ tls: { current, follow: (follower) => follower(current) } });
afterAll(() => sink[Symbol.asyncDispose]());

const ENVELOPE = 'MAIL FROM:<a@customer.example>\r\nRCPT TO:<known@sender.example>\r\n';
const MESSAGE = 'Subject: x\r\n\r\n';
const COUNT = 500;

/** The content of one packet, and the number of its replies. */
const PACKETS = {
  'chunks of one octet': [`${ENVELOPE}${'BDAT 1\r\nx'.repeat(COUNT)}BDAT 2 LAST\r\n\r\n`, COUNT + 3],
  'messages in one chunk': [`${ENVELOPE}BDAT 14 LAST\r\n${MESSAGE}`.repeat(COUNT), 3 * COUNT],
  'messages after DATA': [`${ENVELOPE}DATA\r\n${MESSAGE}.\r\n`.repeat(COUNT), 4 * COUNT],
  'commands without octets': ['NOOP\r\n'.repeat(COUNT), COUNT],
} as const;

/**
 * The octets that the library read for commands, of which it makes a copy; those of a message it leaves in
 * their place.
 */
let copied = 0;
const { _write } = SMTPStream.prototype;
SMTPStream.prototype._write = function (octets, ...others) {
  if (!this._dataMode) copied += octets.length;
  return _write.call(this, octets, ...others);
};
afterAll(() => void Object.assign(SMTPStream.prototype, { _write }));

describe('the octets of a packet are copied once', () => {
  for (const isTls of [false, true])
    for (const [name, [packet, count]] of Object.entries(PACKETS))
      test(`${name}${isTls ? ', over the TLS that STARTTLS began' : ''}`, async () => {
        const client = await sink.greeted();
        if (isTls) {
          await client.startTls();
          await client.say('EHLO client.test');
        }
        copied = 0;
        client.sendOctets(Buffer.from(packet));
        const said = await replies(client, count);
        expect(said.filter((reply) => !/^(250|354) /.test(reply))).toEqual([]);
        expect(copied).toBeGreaterThan(0);
        expect(copied).toBeLessThanOrEqual(packet.length);
        client.end();
      });
});

test('a client whose chunks are refused is ended at the tenth', async () => {
  const client = await SmtpClient.open(sink.server.port);
  client.sendOctets(Buffer.from('BDAT 1\r\nx'.repeat(COUNT)));
  const said = await replies(client, 10);
  expect(said.map((reply) => reply.slice(0, 3))).toEqual([...Array.from({ length: 9 }, () => '503'), '421']);
  await client.ended;
});

test('the lines behind the one that ends a connection are not read', async () => {
  const client = await SmtpClient.open(sink.server.port);
  copied = 0;
  client.sendOctets(Buffer.from('BDAT x\r\n'.repeat(COUNT)));
  await client.ended;
  // Each of them would have a turn, and half a MiB 65,000.
  for (let turn = 0; turn < 2 * COUNT; turn++) await new Promise(setImmediate);
  expect(copied).toBeLessThan(10 * 'BDAT x\r\n'.length);
});
