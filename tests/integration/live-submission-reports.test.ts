import { afterAll, beforeAll, expect, test } from 'bun:test';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { type LiveService, relayTo, startLiveService } from '../support/live-service.ts';
import { type Received, type Sink, startSink } from './transport/smtp-sink.ts';

let service: LiveService;
/** A relay without DSN. It has no mailbox that begins with `no`. */
let sink: Sink;
let port: number;
/** Recipients that the relay answers when a test lets it. */
const held: (() => void)[] = [];

beforeAll(async () => {
  port = await freePort();
  sink = await startSink({
    onRcptTo: ({ address }, _session, done) => {
      if (address.startsWith('held')) held.push(() => done(null));
      else if (address.startsWith('no'))
        done(Object.assign(new Error('5.1.1 No such mailbox'), { responseCode: 550 }));
      else done(null);
    },
  });
  service = await startLiveService({
    transport: relayTo(sink.port),
    environment: { SUBMISSION_PORT: String(port) },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

type Dsn = NonNullable<Parameters<ReturnType<typeof createTransport>['sendMail']>[0]['dsn']>;

/** Hands a mail in by SMTP, and waits for what becomes of it. */
const handIn = async (
  to: string,
  dsn: Dsn | null,
  from = 'shop@sender.example',
  content: { readonly text: string } | { readonly html: string } = { text: 'It is on its way.' },
): Promise<string> => {
  const client = createTransport({
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    auth: { user: 'svc', pass: service.keys.live },
  });
  const { response } = await client.sendMail({
    from: 'Shop <shop@sender.example>',
    to,
    subject: 'Your order',
    ...content,
    envelope: { from, to: [to] },
    ...(dsn && { dsn }),
  });
  client.close();
  const id = /em_\w+/.exec(response)?.[0] ?? response;
  await service.until(id, ({ status }) => status === 'sent' || status === 'failed');
  return id;
};

/** The reports about an email that have come. */
const reportsOn = (id: string): readonly Received[] =>
  sink.received.filter(({ from, raw }) => from === '' && raw.includes(`report.${id}`));
const reportOn = (id: string): Promise<Received> =>
  eventually(`a report on ${id}`, async () => reportsOn(id)[0]);
const waiting = (id: string) =>
  service.service.database.query('select 1 as one from report_requests where email_id = $1', [id]);

/** Its header, and its parts by their types. */
const partsOf = ({ raw }: Received) => {
  const [head = '', ...rest] = raw.toString().split('\r\n\r\n');
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? '';
  const parts = new Map(
    rest
      .join('\r\n\r\n')
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => {
        const [fields = '', ...content] = part.split('\r\n\r\n');
        return [/^Content-Type: ([^;\r]+)/m.exec(fields)?.[1] ?? '', content.join('\r\n\r\n')];
      }),
  );
  return {
    head,
    part: (type: string) => parts.get(type),
    status: parts.get('message/delivery-status') ?? '',
  };
};

test('a failure that a client wants to hear of is reported to it, with what it asked to have back', async () => {
  const id = await handIn('nobody@example.com', {
    id: 'order+7',
    return: 'full',
    notify: ['failure'],
    recipient: 'first+x@example.com',
  });
  const report = await reportOn(id);
  expect(report.to).toEqual(['shop@sender.example']);
  const { status, head, part } = partsOf(report);
  expect(head).toMatch(/^Auto-Submitted: auto-replied\r$/m);
  expect(head).toMatch(/^DKIM-Signature: /m);
  expect(part('text/plain')).toContain('nobody@example.com');
  expect(status.replace(/\r\n/g, '\n').trim()).toMatch(
    new RegExp(
      [
        '^Reporting-MTA: dns; \\S+',
        'Original-Envelope-Id: order\\+7',
        'Arrival-Date: .* \\+0000',
        '',
        'Original-Recipient: rfc822; first\\+x@example\\.com',
        'Final-Recipient: rfc822; nobody@example\\.com',
        'Action: failed',
        'Status: 5\\.1\\.1',
        'Remote-MTA: dns; sink\\.test',
        'Diagnostic-Code: smtp; 550 5\\.1\\.1 No such mailbox$',
      ].join('\n'),
    ),
  );
  const returned = await simpleParser(part('message/rfc822') ?? '');
  expect([returned.subject, returned.text?.trim()]).toEqual(['Your order', 'It is on its way.']);
  await eventually('nothing more to tell', async () => (await waiting(id)).length === 0 || undefined);
});

test('the links of a returned message act for no recipient', async () => {
  const id = await handIn('no8@example.com', { return: 'full', notify: 'failure' }, undefined, {
    html: '<a href="{{unsubscribeUrl}}">Leave</a>',
  });
  const returned = partsOf(await reportOn(id)).part('message/rfc822') ?? '';
  const [, path = ''] =
    /List-Unsubscribe: <http[^>]*?(\/t\/u\/[^>]+)>/.exec(returned.replace(/\r\n[ \t]/g, '')) ?? [];
  expect(path).toStartWith('/t/u/');
  const asked = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };
  expect((await fetch(new URL(path, service.url), asked)).status).toBe(400);
  const { body } = await service.live.get('/v1/suppressions?address=no8@example.com');
  expect(body.data.map(({ reason }: { reason: string }) => reason)).not.toContain('unsubscribed');
});

test('a report that is being sent is claimed until all that came with it have had their time', async () => {
  const id = await handIn('no9@example.com', { notify: 'failure' }, 'held@sender.example');
  const release = await eventually('the report is under way', async () => held[0]);
  const [row] = await service.service.database.query<{ seconds: number }>(
    'select extract(epoch from next_at - now())::float8 as seconds from report_requests where email_id = $1',
    [id],
  );
  expect(row?.seconds).toBeGreaterThan(200);
  release();
  await reportOn(id);
  await eventually('nothing more to tell', async () => (await waiting(id)).length === 0 || undefined);
  expect(reportsOn(id)).toHaveLength(1);
});

test('RET=HDRS returns the header alone', async () => {
  const { part } = await partsOf(
    await reportOn(await handIn('no2@example.com', { return: 'hdrs', notify: 'failure' })),
  );
  expect(part('text/rfc822-headers')).toMatch(/^Subject: Your order\r?$/m);
  expect(part('message/rfc822')).toBeUndefined();
});

test('a success beyond a server without DSN is reported as relayed, and a failure that follows as well', async () => {
  const id = await handIn('ada@example.com', { id: 'x', notify: ['success', 'failure'] });
  const { status, head } = partsOf(await reportOn(id));
  expect(status).toMatch(/^Action: relayed\r?$/m);
  expect(status).toMatch(/^Status: 2\.0\.0\r?$/m);
  expect(head).toMatch(/^Subject: Your message was passed on\r$/m);
  // A bounce may still come: it is waited for.
  expect(await waiting(id)).toHaveLength(1);
  const [sent] = (await service.until(id, () => true)).events;
  expect(sent.data.isUnreported).toBe(true);
});

test('what was not asked for is not reported', async () => {
  const ids = [
    await handIn('no3@example.com', { notify: 'never' }),
    await handIn('no4@example.com', null),
    await handIn('no5@example.com', { notify: 'success' }),
    await handIn('bob@example.com', { notify: 'failure' }),
    await handIn('no6@example.com', { notify: 'failure' }, ''),
    await handIn('no7@example.com', { notify: 'failure' }, 'stranger@elsewhere.example'),
  ];
  // One that is reported comes after them all.
  await reportOn(await handIn('no8@example.com', { notify: 'failure' }));
  await eventually('all were looked at', async () => {
    const [, , refused, , nullSender, stranger] = await Promise.all(ids.map(waiting));
    return [refused, nullSender, stranger].every((rows) => rows?.length === 0) || undefined;
  });
  expect(ids.flatMap(reportsOn)).toEqual([]);
});
