import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTransport, type SendMailOptions, type SentMessageInfo } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type ScriptedSmtp, startScriptedSmtp } from './transport/scripted-smtp.ts';

let service: LiveService;
let next: ScriptedSmtp;
let port: number;

beforeAll(async () => {
  port = await freePort();
  next = await startScriptedSmtp();
  service = await startLiveService({
    transport: relayTo(next.port),
    environment: { SUBMISSION_PORT: String(port) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await next[Symbol.asyncDispose]();
});

const people = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `member-${n}@example.com`);

async function submit(mail: SendMailOptions): Promise<SentMessageInfo> {
  const auth = { user: 'svc', pass: service.keys.live };
  const mailer = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, auth });
  try {
    return await mailer.sendMail({ from: 'Shop <shop@sender.example>', subject: 'Closed', ...mail });
  } finally {
    mailer.close();
  }
}

const idIn = ({ response = '' }: SentMessageInfo): string => /em_\w+/.exec(response)?.[0] ?? '';

describe('a message to a hundred recipients by SMTP (RFC 5321 4.5.3.1.8)', () => {
  test('reaches each of them, and a refusal counts for the one that it is about', async () => {
    next.script = {
      rcpt: (command) => (command.includes('member-99@') ? '550 5.1.1 No such user' : '250 ok'),
    };
    const sent = await submit({ bcc: [...people(100)], text: 'On Monday.' });
    expect(sent.rejected).toEqual([]);
    const email = await service.until(idIn(sent), ({ recipients }) =>
      recipients.every(({ status }: { status: string }) => status !== 'pending'),
    );
    const failed = email.recipients.filter(({ status }: { status: string }) => status === 'failed');
    expect(email.recipients).toHaveLength(100);
    expect(failed.map(({ address }: { address: string }) => address)).toEqual(['member-99@example.com']);
    expect(next.messages).toHaveLength(99);
  });

  test('whose content a template makes is taken too', async () => {
    next.script = {};
    const made = await service.live.post('/v1/templates', {
      name: 'Closed',
      alias: 'closed',
      subject: 'Closed',
      html: '<p>On Monday.</p>',
    });
    expect(made.status).toBe(201);
    await service.live.post(`/v1/templates/${made.body.data.id}/publish`, {});
    const sent = await submit({ bcc: [...people(100)], text: '-', headers: { 'X-Svc-Template': 'closed' } });
    expect((await service.live.get(`/v1/emails/${idIn(sent)}`)).body.data.recipients).toHaveLength(100);
  });

  test('is taken by HTTP as well, where one more is refused', async () => {
    const post = (count: number) => {
      const query = people(count)
        .map((one) => `recipients=${one}`)
        .join('&');
      return fetch(`${service.url}/v1/emails/raw?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'message/rfc822' },
        body: 'From: shop@sender.example\r\nSubject: Closed\r\n\r\nOn Monday.\r\n',
      });
    };
    expect((await post(100)).status).toBe(202);
    expect((await post(101)).status).toBe(422);
  });
});
