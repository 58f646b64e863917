import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { OutboundMessage, RecipientOutcome, Transport } from '../../src/mail/transport/transport.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, startLiveService } from '../support/live-service.ts';

const MEGABYTE = 1_000_000;
/**
 * Two messages of a megabyte to one person each, which are 1.4 MB on the way and counted twice; and not a
 * third.
 */
const OCTETS = 6 * MEGABYTE;
const FILE = [{ filename: 'catalogue.bin', content: Buffer.alloc(MEGABYTE, 'catalogue').toString('base64') }];

/** Takes everything, when the test says so. */
class Waiting implements Transport {
  readonly name = 'smtp';
  readonly confirmsDelivery = true;
  readonly underWay = new Map<OutboundMessage, () => void>();
  isOpen = false;
  most = 0;

  send(message: OutboundMessage): Promise<readonly RecipientOutcome[]> {
    if (this.isOpen || message.attachments.length === 0) return Promise.resolve(accepted(message));
    return new Promise((resolve) => {
      this.underWay.set(message, () => {
        this.underWay.delete(message);
        resolve(accepted(message));
      });
      this.most = Math.max(this.most, this.underWay.size);
    });
  }

  async verify() {
    return [];
  }

  async close() {}
}

const accepted = ({ recipients }: OutboundMessage): RecipientOutcome[] =>
  recipients.map((recipient) => ({
    recipient,
    outcome: 'accepted',
    smtpCode: 250,
    enhancedCode: null,
    response: '250 ok',
    remoteMta: null,
    fault: null,
    subType: null,
    providerId: null,
  }));

const transport = new Waiting();
let service: LiveService;

beforeAll(async () => {
  service = await startLiveService({ transport, limits: { slots: 3, octets: OCTETS } });
});
afterAll(() => service[Symbol.asyncDispose]());

const delivered = (id: string) => service.until(id, ({ status }) => status === 'delivered');

test('large messages under way are bounded by their size, and small ones pass them', async () => {
  const large = await Promise.all(Array.from({ length: 6 }, () => service.send({ attachments: FILE })));
  await eventually('two of them are under way', async () => transport.underWay.size === 2 || undefined);
  // Four large ones wait, more than there are slots: they hold none.
  const small = await Promise.all(Array.from({ length: 9 }, () => service.send()));
  for (const id of small) await delivered(id);
  expect([transport.underWay.size, transport.most]).toEqual([2, 2]);

  for (let left = large.length; left > 0; left--) {
    await eventually('there is one to let go', async () => transport.underWay.size > 0 || undefined);
    for (const [, letGo] of [...transport.underWay].slice(0, 1)) letGo();
  }
  for (const id of large) await delivered(id);
  expect(transport.most).toBe(2);
});

test('each copy of a large message counts, and one larger than all the room passes alone', async () => {
  const many = Array.from({ length: 8 }, (_, index) => `person-${index}@example.com`);
  // 1.4 MB for itself and four copies at once.
  const giant = await service.send({ to: many, attachments: FILE });
  await eventually('four copies are under way', async () => transport.underWay.size === 4 || undefined);
  const next = await service.send({ attachments: FILE });
  await delivered(await service.send());
  expect([...transport.underWay.keys()].every(({ emailId }) => emailId === giant)).toBeTrue();
  transport.isOpen = true;
  for (const letGo of transport.underWay.values()) letGo();
  await delivered(giant);
  await delivered(next);
});
