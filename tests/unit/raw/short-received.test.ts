import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createMailReader, type MailReader } from '../../../src/mail/reading/mail-reader.ts';
import { isShort } from '../../../src/mail/reading/mail-size.ts';
import { TimeShare } from '../../../src/mail/reading/time-share.ts';
import { readReceived } from '../../../src/mail/received/received-mail.ts';
import { costMsOf } from '../../support/own-time.ts';

const HEAD = 'From: Ada <ada@customer.example>\r\nTo: support@acme.example\r\nSubject: Order\r\n';
const SHORT = Buffer.from(`${HEAD}\r\nWhere is it?\r\n`);
const LONG = Buffer.from(`${HEAD}\r\nWhere is it?\r\n${' \r\n'.repeat(10_000)}`);
const LIMITS = { threads: 1, deadlineMs: 15_000, startMs: 10_000, mostWaiting: 8, idleMs: 60_000 };

/** The names of both messages in the order in which they are read, the long one first in line. */
async function orderOf(reader: MailReader): Promise<readonly string[]> {
  const order: string[] = [];
  await Promise.all([
    reader.received(LONG, 'ws_1').then(() => order.push('long')),
    reader.received(SHORT, 'ws_1').then(() => order.push('short')),
  ]);
  return order;
}

describe('a short message that came in', () => {
  let reader: MailReader;
  let busy: MailReader;
  beforeAll(() => {
    reader = createMailReader({ received: LIMITS });
    busy = createMailReader({ received: LIMITS, hereShare: 0 });
  });
  afterAll(() => {
    reader.close();
    busy.close();
  });

  test('is read while the thread is busy, and in the same way as there', async () => {
    expect(await orderOf(reader)).toEqual(['short', 'long']);
    const here = await reader.received(SHORT, 'ws_1');
    expect(here).toEqual(await readReceived(SHORT));
    expect([here.from?.address, here.replyText]).toEqual(['ada@customer.example', 'Where is it?']);
  });

  test('waits for the thread once such messages have had their part of the time', async () => {
    // Without any part, all that has been read here stays on the account.
    for (let read = 0; read < 100 && (await orderOf(busy))[0] === 'short'; read++)
      await Promise.all(Array.from({ length: 200 }, () => busy.received(SHORT, 'ws_1')));
    expect(await orderOf(busy)).toEqual(['long', 'short']);
    expect(await busy.received(SHORT, 'ws_1')).toEqual(await reader.received(SHORT, 'ws_1'));
  });

  // The worst of 41,668 shapes took 13 ms. Reading that is quadratic takes some hundred.
  test.each([
    ['text/html', 'a b <a@b>,'],
    ['text/html', '{&amp;'],
    ['text/html', '<blockquote>'],
    ['text/plain', 'From: a\r\n'],
    ['text/plain', 'On a, b wrote:\r\n'],
    ['text/plain; format=flowed; delsp=yes', '> '],
    ['multipart/mixed; boundary=b', '--b\r\n'],
  ])('of %s with %p alone takes the thread that answers requests a moment', async (type, fill) => {
    const body = Buffer.from(fill.repeat(12_000 / fill.length)).toString('base64');
    const fields = `${HEAD}MIME-Version: 1.0\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n`;
    const raw = Buffer.from(`${fields}\r\n${body.replace(/.{76}/g, '$&\r\n')}\r\n`.slice(0, 16_384));
    expect(isShort(raw)).toBe(true);
    let least = Number.POSITIVE_INFINITY;
    // On a busy machine the compilers come late to it.
    for (let run = 0; run < 20 && least >= 40; run++)
      least = Math.min(least, await costMsOf(() => readReceived(Buffer.from(raw))));
    expect(least).toBeLessThan(40);
  });
});

test('a part of the time is had up, and comes again', async () => {
  let now = 0;
  const share = new TimeShare(0.2, () => now);
  const take = (ms: number) =>
    share.count(async () => {
      now += ms;
    });
  await take(80);
  expect(share.isLeft).toBe(true);
  await take(150);
  // 230 ms of work, of which a fifth of 230 ms was free: 184 are left to pay, and 100 may be.
  expect(share.isLeft).toBe(false);
  now += 400;
  expect(share.isLeft).toBe(false);
  now += 40;
  expect(share.isLeft).toBe(true);
  const failed = share.count(async () => {
    now += 200;
    throw new Error('unreadable');
  });
  await expect(failed).rejects.toThrow('unreadable');
  expect(share.isLeft).toBe(false);
});
