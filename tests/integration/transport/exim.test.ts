import { expect, test } from 'bun:test';
import { RelayTransport } from '../../../src/mail/transport/smtp/relay.ts';
import { freePort } from '../../../src/ops/torture/free-port.ts';
import { eventually } from '../../support/eventually.ts';
import { eximMissing, startEximServer } from '../../support/exim.ts';
import { poolParts } from '../../support/pool-parts.ts';
import { aMessage } from '../../unit/transport/a-message.ts';

const LIMITS = { signal: new AbortController().signal, deadlineMs: 60_000 };
const COUNT = 60;

const missing = eximMissing();
if (missing) console.error(`Not tested with Exim: ${missing}.`);

// Exim ends a session in which a command comes before its turn (smtp_enforce_sync), and refuses DATA where it
// has refused all recipients.
test.skipIf(missing !== null)(
  'Exim takes pipelined envelopes, whole messages, and those alone whom it has not refused',
  async () => {
    await using server = await startEximServer(await freePort());
    await eventually('it listens', async () => {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port: server.port, socket: { data() {} } });
      socket.end();
      return true;
    });
    const relay = new RelayTransport(
      {
        host: '127.0.0.1',
        port: server.port,
        name: 'exim.receiver.example',
        tls: 'none',
        verifyCertificate: true,
        ca: null,
        ehloName: 'posthorn.test',
        credentials: null,
        connectMs: 30_000,
        silenceMs: 60_000,
      },
      poolParts(),
      { sessions: 3, messagesPerSession: 100, idleMs: 60_000 },
    );
    const text = (n: number): string => `Message ${n}\n.\n..\n${'A line.\n'.repeat(n * 20)}end ${n}\n`;
    const outcomes = await Promise.all(
      Array.from({ length: COUNT }, async (_, n) => {
        const recipients = [[`a${n}`, `b${n}`], [`a${n}`, `refused${n}`], [`refused${n}`]][n % 3] ?? [];
        const addresses = recipients.map((local) => `${local}@receiver.example`);
        const sent = await relay.send(
          aMessage({
            text: text(n),
            recipients: addresses,
            to: addresses.map((address) => ({ name: null, address })),
          }),
          LIMITS,
        );
        return sent.map(({ outcome }) => outcome);
      }),
    );
    await relay.close();
    const expected: typeof outcomes = [['accepted', 'accepted'], ['accepted', 'refused'], ['refused']];
    expect(outcomes).toEqual(Array.from({ length: COUNT }, (_, n) => expected[n % 3] ?? []));
    const copies = COUNT;
    const taken = await eventually('all are kept', async () => {
      const kept = await server.taken();
      return kept.length >= copies ? kept : undefined;
    });
    expect(taken.length).toBe(copies);
    for (const one of taken) {
      const n = Number(/^Message (\d+)\r?$/m.exec(one)?.[1]);
      expect(one.replaceAll('\r\n', '\n')).toEndWith(`\n\n${text(n)}`);
    }
    expect(await server.log()).not.toMatch(/synchroni[sz]ation|protocol error/);
  },
);
