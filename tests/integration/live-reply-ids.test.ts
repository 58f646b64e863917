import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { SesTransport } from '../../src/mail/transport/ses/ses.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type Email, type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { startSes } from '../support/ses.ts';
import { aMail, handIn, receiving } from './received-door.ts';
import { AUTHORITY, CERTIFICATE, PRIVATE_KEY } from './transport/certificates.ts';
import { startScriptedSmtp } from './transport/scripted-smtp.ts';

const get = async (service: LiveService, path: string): Promise<Email> =>
  (await service.live.get(path)).body.data;

/**
 * The email that the answer of a person to a Message-ID is matched with, by the port for mail that comes in.
 */
async function answered(
  { service, port }: { readonly service: LiveService; readonly port: number },
  messageId: string,
  from = 'ada@customer.example',
  field = 'In-Reply-To',
): Promise<string | null> {
  const own = `<${crypto.randomUUID()}@customer.example>`;
  const mail = aMail({ From: from, 'Message-ID': own, [field]: messageId });
  const replies = await handIn(port, from, ['support@sender.example'], mail);
  expect(replies.at(-1)).toStartWith('250 ');
  const all = (await get(service, '/v1/received')) as Email[];
  const { inReplyToEmail } = all.find((one) => one.messageId === own);
  return inReplyToEmail?.emailId ?? null;
}

/** A raw message with a Message-ID of its sender. */
const rawOf = (messageId: string, more = ''): string =>
  `From: shop@sender.example\r\nTo: ada@customer.example\r\nSubject: Raw\r\nMessage-ID: ${messageId}\r\n${more}\r\nHello\r\n`;

async function sendRaw(service: LiveService, raw: string, ...recipients: readonly string[]): Promise<string> {
  const query = recipients.map((one) => `recipients=${encodeURIComponent(one)}`).join('&');
  const response = await fetch(`${service.url}/v1/emails/raw?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'message/rfc822' },
    body: raw,
  });
  expect(response.status).toBe(202);
  return ((await response.json()) as Email).data.id;
}

describe('a reply to a raw message', () => {
  let at: { readonly service: LiveService; readonly port: number };
  beforeAll(async () => {
    const port = await freePort();
    at = { port, service: await startLiveService({ environment: { INBOUND_SMTP_PORT: String(port) } }) };
    await receiving(at.service).exactly('support');
  });
  afterAll(() => at.service[Symbol.asyncDispose]());

  test('is matched by the Message-ID of its sender, also before the message has left', async () => {
    const id = await sendRaw(at.service, rawOf('<order-1@sender.example>'));
    expect(await answered(at, '<order-1@sender.example>')).toBe(id);
    expect(await answered(at, '<older@x.example> <order-1@sender.example>', undefined, 'References')).toBe(
      id,
    );
  });

  test('is matched with the email that the same sender got, where a list gives all readers one Message-ID', async () => {
    const raw = rawOf('<issue-7@sender.example>');
    const first = await sendRaw(at.service, raw, 'ada@customer.example', 'bob@customer.example');
    const second = await sendRaw(at.service, raw, 'cy@customer.example');
    expect(await answered(at, '<issue-7@sender.example>', 'BOB@customer.example')).toBe(first);
    expect(await answered(at, '<issue-7@sender.example>', 'cy@customer.example')).toBe(second);
    const again = await sendRaw(at.service, raw, 'cy@customer.example', 'cy@customer.example');
    expect(await answered(at, '<issue-7@sender.example>', 'cy@customer.example')).toBe(again);
    expect(await answered(at, '<issue-7@sender.example>')).toBe(first);
  });

  test('matches nothing from a stranger, by a forged id, or by the id of another environment', async () => {
    await sendRaw(at.service, rawOf('<order-2@sender.example>'));
    expect(await answered(at, '<order-2@sender.example>', 'eve@elsewhere.example')).toBeNull();
    expect(await answered(at, '<order-3@sender.example>')).toBeNull();
    expect(await answered(at, '<ORDER-2@sender.example>')).toBeNull();
    const { database } = at.service.service;
    await database.query('update sent_message_ids set livemode = false');
    expect(await answered(at, '<order-2@sender.example>')).toBeNull();
  });

  test('is not matched once the recipient is forgotten, and no row tells the address', async () => {
    await at.service.live.post('/v1/contacts', { email: 'gone@customer.example' });
    const id = await sendRaw(at.service, rawOf('<order-4@sender.example>'), 'gone@customer.example');
    expect(await answered(at, '<order-4@sender.example>', 'gone@customer.example')).toBe(id);
    await at.service.until(id, ({ status }) => status === 'delivered');
    const [contact] = (await get(at.service, '/v1/contacts?email=gone@customer.example')) as Email[];
    expect((await at.service.live.delete(`/v1/contacts/${contact.id}`)).status).toBe(204);
    const { database } = at.service.service;
    await eventually('the address is replaced', async () => {
      const [row] = await database.query<{ keys: string }>(
        'select recipient_keys::text as keys from emails where id = $1',
        [id],
      );
      return row?.keys.includes('gone@') ? undefined : true;
    });
    expect(await answered(at, '<order-4@sender.example>', 'gone@customer.example')).toBeNull();
    const rows = await database.query<{ row: string }>('select s::text as row from sent_message_ids s');
    expect(rows.filter(({ row }) => row.includes(id))).toHaveLength(1);
    expect(rows.filter(({ row }) => /customer|order-/.test(row))).toEqual([]);
  });

  test('is matched by the id of SES of a message that is sent again, in the form of any region', async () => {
    const resent = '0102018f3a5b6c7d-1b2c3d4e-5f60-7182-93a4-b5c6d7e8f902-000000';
    const id = await sendRaw(at.service, rawOf(`<${resent}@eu-west-1.amazonses.com>`));
    for (const domain of ['eu-west-1', 'email'])
      expect(await answered(at, `<${resent}@${domain}.amazonses.com>`)).toBe(id);
  });

  test('is matched for 90 days', async () => {
    const [row] = await at.service.service.database.query<{ days: number }>(
      'select round(extract(epoch from max(until) - now()) / 86400)::integer as days from sent_message_ids',
    );
    expect(row?.days).toBe(90);
  });
});

test('a reply to a message that was submitted by SMTP is matched by the Message-ID of its program', async () => {
  await using stack = new AsyncDisposableStack();
  const files = await mkdtemp(join(tmpdir(), 'posthorn-reply-ids-'));
  stack.defer(() => rm(files, { recursive: true }));
  const [cert, key] = [join(files, 'cert.pem'), join(files, 'key.pem')];
  await Promise.all([writeFile(cert, CERTIFICATE), writeFile(key, PRIVATE_KEY)]);
  const [port, submission] = [await freePort(), await freePort()];
  const service = stack.use(
    await startLiveService({
      environment: {
        INBOUND_SMTP_PORT: String(port),
        SUBMISSION_PORT: String(submission),
        SUBMISSION_TLS_CERT: cert,
        SUBMISSION_TLS_KEY: key,
      },
    }),
  );
  await receiving(service).exactly('support');
  const mailer = createTransport({
    host: '127.0.0.1',
    port: submission,
    requireTLS: true,
    tls: { ca: AUTHORITY, servername: 'relay.test' },
    auth: { user: 'svc', pass: service.keys.live },
  });
  stack.defer(() => mailer.close());
  const messageId = '<ticket-1842@helpdesk.example>';
  await mailer.sendMail({
    from: 'shop@sender.example',
    to: 'ada@customer.example',
    subject: 'Ticket',
    text: 'Hello',
    messageId,
  });
  const [email] = (await get(service, '/v1/emails')) as Email[];
  expect(await answered({ service, port }, messageId)).toBe(email.id);
  expect(await answered({ service, port }, messageId, 'eve@elsewhere.example')).toBeNull();
});

const SES_ID = '0102018f3a5b6c7d-1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901-000000';

describe('a reply to what SES has sent', () => {
  test('is matched by the Message-ID of SES, in the form of any region, for composed and raw mail', async () => {
    await using stack = new AsyncDisposableStack();
    const ses = startSes();
    stack.defer(() => ses.stop());
    const port = await freePort();
    const account = { region: 'eu-west-1', accessKeyId: 'AK', secretAccessKey: 'SK', endpoint: ses.endpoint };
    const service = stack.use(
      await startLiveService({
        transport: new SesTransport({ ...account, configurationSet: null, topicArn: null, now: Date.now }),
        environment: { INBOUND_SMTP_PORT: String(port) },
      }),
    );
    await receiving(service).exactly('support');
    const id = await service.send({ to: ['ada@customer.example', 'bob@customer.example'] });
    await service.until(id, ({ status }) => status === 'sent');
    // The copies of an email leave side by side.
    const idOf = (to: string) => {
      const sent = ses.calls.filter(({ path }) => path.endsWith('/outbound-emails'));
      return ses.messageIds[sent.findIndex(({ body }) => body.Destination.ToAddresses[0] === to)];
    };
    const [first, second] = [idOf('ada@customer.example'), idOf('bob@customer.example')];
    expect(await answered({ service, port }, `<${second}@email.amazonses.com>`)).toBeNull();
    for (const domain of ['email', 'eu-west-1', 'us-gov-east-1'])
      expect(
        await answered({ service, port }, `<${first}@${domain}.amazonses.com>`, 'ada@customer.example'),
      ).toBe(id);
    expect(await answered({ service, port }, `<${second}@email.amazonses.com>`, 'bob@customer.example')).toBe(
      id,
    );
    const raw = await sendRaw(service, rawOf('<order-5@sender.example>'));
    await service.until(raw, ({ status }) => status === 'sent');
    expect(await answered({ service, port }, `<${ses.messageIds[2]}@eu-west-1.amazonses.com>`)).toBe(raw);
    expect(await answered({ service, port }, '<order-5@sender.example>')).toBe(raw);
    expect(await answered({ service, port }, `<${first}@amazonses.com.elsewhere.example>`)).toBeNull();
    expect(await answered({ service, port }, `<${SES_ID}@email.amazonses.com>`)).toBeNull();
    expect(
      await answered({ service, port }, `<${first}@email.amazonses.com>`, 'eve@elsewhere.example'),
    ).toBeNull();
  });

  test('is matched where a relay is the SMTP interface of SES, which tells its id in its reply', async () => {
    await using relay = await startScriptedSmtp({ dot: `250 Ok ${SES_ID}` });
    const port = await freePort();
    await using service = await startLiveService({
      transport: relayTo(relay.port),
      environment: { INBOUND_SMTP_PORT: String(port) },
    });
    await receiving(service).exactly('support');
    const id = await service.send({ to: 'ada@customer.example' });
    await service.until(id, ({ status }) => status === 'sent');
    expect(await answered({ service, port }, `<${SES_ID}@email.amazonses.com>`)).toBe(id);
    expect(
      await answered({ service, port }, `<${SES_ID}@email.amazonses.com>`, 'eve@elsewhere.example'),
    ).toBeNull();
  });
});
