import { expect, test } from 'bun:test';
import type { OutboundMessage, Transport } from '../../src/mail/transport/transport.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { type CollectedSpan, openCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { startLiveService } from '../support/live-service.ts';
import { openReceiver } from '../support/webhook-world.ts';

// Traces of a whole service, as a collector gets them over OTLP/HTTP.

const CALLER = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };
const SERVER = 2;
const CLIENT = 3;
const PRODUCER = 4;
const ERROR = 2;

/** Defers the first attempt of each email, and accepts the second. */
const secondTime: Transport = {
  name: 'smtp',
  confirmsDelivery: false,
  send: async (message: OutboundMessage) =>
    message.recipients.map((recipient) => ({
      recipient,
      smtpCode: null,
      enhancedCode: null,
      response: '',
      remoteMta: null,
      providerId: null,
      ...(message.attempt === 1
        ? { outcome: 'deferred' as const, fault: 'infrastructure' as const, subType: 'RateLimited' as const }
        : { outcome: 'accepted' as const, fault: null, subType: null }),
    })),
  close: async () => {},
} as unknown as Transport;

const nameOf = ({ name }: CollectedSpan) => name;
/** An attempt may be over before its acceptance has been told. */
const placeOf = ({ name, attributes }: CollectedSpan) => `${name} ${attributes['posthorn.attempt'] ?? 0}`;
const byAttempt = (a: CollectedSpan, b: CollectedSpan) => placeOf(a).localeCompare(placeOf(b));
const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex');

test('a request, the acceptance, each attempt and each webhook post are spans that belong together', async () => {
  using collector = openCollector();
  using receiver = openReceiver();
  await using service = await startLiveService({
    transport: secondTime,
    schedule: { backoffMs: [60_000] },
    environment: {
      HOST: '127.0.0.1',
      PUBLIC_URL: 'http://localhost:3000',
      TRANSPORT: 'capture',
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20secret,x-tenant=one',
      OTEL_SERVICE_NAME: 'mail',
    },
  });
  await service.live.post('/v1/webhooks', { url: receiver.url, events: ['sent'] });
  const ask = (flags: string, text: string) =>
    fetch(`${service.url}/v1/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.keys.live}`,
        'content-type': 'application/json',
        traceparent: `00-${CALLER.trace}-${CALLER.span}-${flags}`,
      },
      body: JSON.stringify({ from: 'shop@sender.example', to: 'ada@example.com', subject: 'Private', text }),
    });
  // Of each email the first post fails.
  receiver.answer = ({ event }) =>
    new Response('', {
      status: receiver.received.filter((one) => one.event.id === event.id).length === 1 ? 500 : 200,
    });
  // The caller has chosen not to record this one; the emails of both are recorded all the same.
  expect((await ask('00', 'first')).status).toBe(202);
  const answer = await ask('01', 'second');
  const { id } = ((await answer.json()) as { data: { id: string } }).data;
  const [traceId, spanId] = [sha256(id).slice(0, 32), sha256(id).slice(32, 48)];
  const ofEmail = (spans: readonly CollectedSpan[]) => spans.filter((span) => span.traceId === traceId);
  await collector.until('a deferred attempt', (spans) => ofEmail(spans).length === 2);
  // A span may end before the commit, whose moment the next attempt counts from.
  await service.until(id, ({ status }) => status === 'deferred');
  await service.pass(61_000);
  await collector.until('a refused post', (spans) => ofEmail(spans).map(nameOf).includes('webhook post'));
  await eventually('its commit', async () => {
    const [row] = await service.service.database.query<{ state: string }>(
      `select state from webhook_deliveries where email_id = $1 and state = 'scheduled'`,
      [id],
    );
    return row;
  });
  await service.pass(3_600_000);
  const spans = await collector.until(
    'a second post',
    (all) => ofEmail(all).filter(({ name }) => name === 'webhook post').length === 2,
  );

  const callers = spans.filter((span) => span.traceId === CALLER.trace);
  expect(callers).toHaveLength(1);
  const [request] = callers as [CollectedSpan];
  expect(request).toMatchObject({ name: 'POST /v1/emails', kind: SERVER, parentSpanId: CALLER.span });
  expect(request.links).toMatchObject([{ traceId, spanId }]);
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/emails',
    'http.response.status_code': 202,
    'posthorn.request.id': answer.headers.get('x-request-id'),
  });

  const [accepted, first, second, refused, posted] = ofEmail(spans).toSorted(byAttempt);
  expect(accepted).toMatchObject({ name: 'email accepted', kind: PRODUCER, spanId });
  expect(accepted?.parentSpanId || undefined).toBeUndefined();
  expect(accepted?.links).toMatchObject([{ traceId: CALLER.trace, spanId: request.spanId }]);
  const attempt = { name: 'email attempt', kind: CLIENT, parentSpanId: spanId };
  expect(first).toMatchObject({
    ...attempt,
    attributes: { 'posthorn.attempt': 1, 'posthorn.outcomes': ['deferred'], 'posthorn.email.id': id },
    status: { code: ERROR, message: 'deferred' },
  });
  expect(second).toMatchObject({
    ...attempt,
    attributes: { 'posthorn.attempt': 2, 'posthorn.outcomes': ['accepted'] },
  });
  expect(second?.status.code ?? 0).toBe(0);
  for (const [span, status] of [
    [refused, 500],
    [posted, 200],
  ] as const)
    expect(span).toMatchObject({
      name: 'webhook post',
      kind: CLIENT,
      parentSpanId: spanId,
      attributes: { 'http.response.status_code': status, 'posthorn.event.type': 'sent' },
    });
  for (const span of spans)
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));

  expect(new Set(collector.paths)).toEqual(new Set(['POST /otlp/v1/traces']));
  expect(collector.headers[0]?.get('api-key')).toBe('a secret');
  expect(collector.headers[0]?.get('x-tenant')).toBe('one');
  expect(collector.resources[0]).toMatchObject({ 'service.name': 'mail', 'service.version': '0.1.0' });
  expect(JSON.stringify(spans)).not.toMatch(/ada@|Private|second|svc_live/);
});

test('a collector that is away delays and fails nothing, and one warning tells', async () => {
  const port = await freePort();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  await using service = await startLiveService({ environment });
  const ids = await Promise.all(Array.from({ length: 20 }, () => service.send()));
  for (const id of ids) await service.until(id, ({ status }) => status === 'delivered');
  await eventually('a warning', async () => (service.logged().includes('refused traces') ? true : undefined));
  expect(service.logged().split('refused traces')).toHaveLength(2);
});
