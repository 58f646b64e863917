import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AUTHORITY, TestCertificate } from '../integration/transport/certificates.ts';
import { median } from './median.ts';
import { submitAll } from './submitter.ts';

// The processor time of the submission port for a message of 5 kB over TLS, from its first octet to the
// reply, reading included and storing not: of the thread that answers requests, by source trees in turns; the
// first two rounds warm up:
//   bun tests/bench/submission-port.ts [--rounds 12] [--messages 400] BEFORE .
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '12' },
    messages: { type: 'string', default: '400' },
    client: { type: 'boolean', default: false },
  },
});
const [ROUNDS, MESSAGES] = [Number(values.rounds), Number(values.messages)];
const WARM = 2;
const CONNECTIONS = 8;

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

/**
 * The client is another process, so that the time of this one is the server's. It reads the port of each
 * round.
 */
async function submit(): Promise<void> {
  let number = 0;
  for await (const port of console) {
    const messages = Array.from({ length: MESSAGES }, () => {
      const n = ++number;
      return { from: 'shop@sender.example', to: `r${n}@receiver.example`, octets: messageOf(n) };
    });
    const tls = { ca: AUTHORITY, servername: 'relay.test' };
    const session = { port: Number(port), tls, auth: { user: 'svc', pass: 'key' } };
    const { taken } = await submitAll(session, CONNECTIONS, messages);
    console.log(taken);
  }
}

async function openPort(tree: string): Promise<number> {
  const { openSubmissionServer } = await import(resolve(tree, 'src/mail/submission/submission-server.ts'));
  const { createMailReader } = await import(resolve(tree, 'src/mail/reading/mail-reader.ts'));
  const { port } = await openSubmissionServer({
    host: '127.0.0.1',
    port: 0,
    name: 'relay.test',
    tls: new TestCertificate(),
    onError: (error: Error) => console.error(error),
    mailReader: createMailReader(),
    onKey: async () => ({ workspaceId: 'ws_1' }),
    // A commit answers in a later turn of the event loop.
    onSubmit: () => new Promise((done) => setImmediate(() => done({ id: 'em_1' }))),
  });
  return port;
}

async function measure(trees: readonly string[]): Promise<void> {
  const client = Bun.spawn([process.execPath, import.meta.path, '--client', '--messages', values.messages], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const answers = client.stdout.getReader();
  const sides: { readonly tree: string; readonly port: number; readonly us: number[] }[] = [];
  for (const tree of trees) sides.push({ tree, port: await openPort(tree), us: [] });
  for (let round = -WARM; round < ROUNDS; round++)
    for (const { port, us } of sides) {
      const before = process.threadCpuUsage();
      await client.stdin.write(`${port}\n`);
      await client.stdin.flush();
      const taken = new TextDecoder().decode((await answers.read()).value).trim();
      if (taken !== String(MESSAGES)) throw new Error(`${taken} of ${MESSAGES} messages were taken.`);
      const { user, system } = process.threadCpuUsage(before);
      if (round >= 0) us.push((user + system) / MESSAGES);
    }
  const [first] = sides;
  for (const { tree, us } of sides) {
    const ratio = median(us.map((one, round) => one / (first?.us[round] ?? one)));
    console.log(
      `${tree}: ${median(us).toFixed(0)} us, ${Math.min(...us).toFixed(0)} at least, ${ratio.toFixed(2)} times the first`,
    );
  }
  client.kill();
}

if (values.client) await submit();
else await measure(positionals.length === 0 ? ['.'] : positionals);
process.exit(0);
