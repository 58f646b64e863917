import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { MailReader } from '../../src/mail/reading/mail-reader.ts';

// The processor time of reading a submitted message of 5 kB, of the process and of the thread that answers
// requests, by source trees in turns; the first round warms up:
//   bun tests/bench/submission-reading.ts [--rounds 4] [--messages 2000] BEFORE .
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '4' },
    messages: { type: 'string', default: '2000' },
  },
});
const [ROUNDS, MESSAGES] = [Number(values.rounds), Number(values.messages)];
const AT_ONCE = 16;
const trees = positionals.length === 0 ? ['.'] : positionals;

const text = 'Your order is on its way, and here is all that you have to know about it.\r\n'.repeat(32);
const messageOf = (n: number): Buffer =>
  Buffer.from(
    [
      'From: Shop <shop@sender.example>',
      `To: r${n}@receiver.example`,
      `Subject: Order ${n}`,
      'Date: Fri, 27 Nov 2026 10:00:00 +0000',
      `Message-ID: <${n}.order@sender.example>`,
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      text,
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<html><body><p>${text}</p></body></html>`,
      '--b--',
      '',
    ].join('\r\n'),
  );

const readers = new Map<string, MailReader>();
for (const tree of trees) {
  const { createMailReader } = await import(resolve(tree, 'src/mail/reading/mail-reader.ts'));
  readers.set(tree, createMailReader());
}

const sum = ({ user, system }: { readonly user: number; readonly system: number }): number => user + system;
let number = 0;
for (let round = 0; round <= ROUNDS; round++)
  for (const [tree, reader] of readers) {
    const [all, own] = [process.cpuUsage(), process.threadCpuUsage()];
    let left = MESSAGES;
    const read = async (): Promise<void> => {
      while (left-- > 0) await reader.submission(messageOf(number++), ['r@receiver.example'], 'ws_1');
    };
    await Promise.all(Array.from({ length: AT_ONCE }, read));
    const each = (us: number): string => (us / MESSAGES).toFixed(0);
    console.log(
      `round ${round}: ${tree}: ${each(sum(process.cpuUsage(all)))} us of the process, ${each(sum(process.threadCpuUsage()) - sum(own))} us of this thread`,
    );
  }
process.exit(0);
