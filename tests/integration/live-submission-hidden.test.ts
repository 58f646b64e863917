import { afterAll, beforeAll, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type Email, type LiveService, startLiveService } from '../support/live-service.ts';

let service: LiveService;
let port: number;

beforeAll(async () => {
  port = await freePort();
  service = await startLiveService({ environment: { SUBMISSION_PORT: String(port) } });
});
afterAll(() => service[Symbol.asyncDispose]());

/** Says line after line, each when the one before was answered; the last answer. */
async function converse(lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  const answer = async (): Promise<string> => {
    let text = '';
    // The last line of a reply has a space behind its code.
    while (!/^\d{3} .*\r\n$/m.test(text)) text += (await once(socket, 'data'))[0];
    return text;
  };
  let last = await answer();
  for (const line of lines) {
    socket.write(`${line}\r\n`);
    last = await answer();
  }
  socket.destroy();
  return last.trim();
}

const handIn = (header: string, ...recipients: string[]): Promise<string> =>
  converse([
    'EHLO client.test',
    `AUTH PLAIN ${Buffer.from(`\0svc\0${service.keys.live}`).toString('base64')}`,
    'MAIL FROM:<shop@sender.example>',
    ...recipients.map((address) => `RCPT TO:<${address}>`),
    'DATA',
    `From: shop@sender.example\r\n${header}Subject: To whom it may concern\r\n\r\nYou do not know each other.\r\n.`,
  ]);

const emailOf = async (reply: string): Promise<Email> =>
  service.until(/em_\w+/.exec(reply)?.[0] ?? reply, ({ status }) => status === 'delivered');

test('an SMTP submission without To and Cc goes to every recipient as a blind copy', async () => {
  const reply = await handIn('', 'ada@example.com', 'bob@example.com');
  expect(reply).toMatch(/^250 2\.0\.0 Accepted as em_/);
  const email = await emailOf(reply);
  expect([email.to, email.cc, email.bcc]).toEqual([[], [], ['ada@example.com', 'bob@example.com']]);
  expect(email.recipients).toMatchObject([
    { address: 'ada@example.com', kind: 'bcc', status: 'delivered' },
    { address: 'bob@example.com', kind: 'bcc', status: 'delivered' },
  ]);
  const { data } = (await service.live.get(`/v1/captured?emailId=${email.id}`)).body;
  expect(data.map(({ recipient }: Email) => recipient).toSorted()).toEqual([
    'ada@example.com',
    'bob@example.com',
  ]);
  for (const { id } of data) {
    const { raw } = (await service.live.get(`/v1/captured/${id}`)).body.data;
    const header = raw.split('\r\n\r\n')[0] ?? '';
    expect(header).not.toMatch(/^To:|ada@|bob@/im);
  }
});

test('an SMTP submission leaves out its Bcc field', async () => {
  const email = await emailOf(await handIn('Bcc: ada@example.com\r\n', 'ada@example.com', 'bob@example.com'));
  expect([email.to, email.bcc]).toEqual([[], ['ada@example.com', 'bob@example.com']]);
});

test('an empty list of recipients is refused over HTTP', async () => {
  const body = { from: 'shop@sender.example', to: [], bcc: ['ada@example.com'], subject: 'x', text: 'x' };
  expect((await service.live.post('/v1/emails', body)).status).toBe(422);
});
