import { describe, expect, test } from 'bun:test';
import { systemClock } from '../../src/platform/time/clock.ts';
import { isSuccess, type PostResult, REASONS } from '../../src/sending/webhooks/http/post-result.ts';
import { createPoster } from '../../src/sending/webhooks/http/poster.ts';
import { verify } from '../../src/sending/webhooks/http/signature.ts';
import { LivedClock } from '../support/own-time.ts';
import { answerOf, receiveRaw } from '../support/raw-receiver.ts';
import { HOSTILE_ANSWERS } from './webhook-hostile-answers.ts';

const LIMIT_MS = 150;
/** The time that may pass until the end of the limit is noticed. */
const SLACK_MS = 250;

const posterWith = (limitMs: number) =>
  createPoster({
    guard: (address) => address === '127.0.0.1',
    resolve: () => Promise.reject(new Error('no names here')),
    clock: systemClock,
    limitMs,
  });
/** For receivers that would keep it for ever, and for those whose answer comes before any limit. */
const hurried = posterWith(LIMIT_MS);
const poster = posterWith(3_600_000);
const secret = `whsec_${'s'.repeat(43)}`;
const body = '{"id":"evt_1","note":"naïve ☃"}';
const post = (url: string, by = poster): Promise<PostResult> =>
  by.post({ webhookId: 'wh_1', url, secret, body });

describe('a webhook receiver that', () => {
  for (const { name, behave, httpStatus, error, responseBody } of HOSTILE_ANSWERS)
    test(name, async () => {
      await using receiver = await receiveRaw(behave);
      using clock = new LivedClock();
      const answer = await post(receiver.url, error === 'timeout' ? hurried : poster);
      const tookMs = clock.ms;

      expect({ httpStatus: answer.httpStatus, error: answer.error }).toEqual({ httpStatus, error });
      if (httpStatus === 0 && error !== null) expect(answer.responseBody).toBe(REASONS[error]);
      else if (responseBody instanceof RegExp) expect(answer.responseBody).toMatch(responseBody);
      else expect(answer.responseBody).toBe(responseBody ?? '');
      expect(answer.responseBody.length).toBeLessThanOrEqual(1000);
      expect(answer.responseBody).not.toContain('127.0.0.1');
      expect(isSuccess(answer)).toBe(error === null && httpStatus < 300);

      // An answer that is not cut short ends by itself, long before the other limit of an hour.
      if (error === 'timeout') {
        expect(tookMs).toBeLessThan(LIMIT_MS + SLACK_MS);
        expect(answer.durationMs).toBeGreaterThanOrEqual(LIMIT_MS - 1);
      }
      expect(receiver.requests.length).toBe(1);
      expect(receiver.connections.length).toBe(1);
    });

  test('does not listen', async () => {
    let url = '';
    {
      await using receiver = await receiveRaw(() => {});
      url = receiver.url;
    }
    expect(await post(url)).toMatchObject({
      httpStatus: 0,
      error: 'no_connection',
      responseBody: REASONS.no_connection,
    });
  });

  test('never reads is given up at the limit', async () => {
    await using receiver = await receiveRaw((socket) => socket.pause());
    const answer = await hurried.post({
      webhookId: 'wh_1',
      url: receiver.url,
      secret,
      body: `"${'x'.repeat(20_000_000)}"`,
    });
    expect(answer).toMatchObject({ httpStatus: 0, error: 'timeout' });
  });

  test('is given up leaves no connection behind', async () => {
    await using receiver = await receiveRaw(() => {});
    await post(receiver.url, hurried);
    const [connection] = receiver.connections;
    if (connection && !connection.closed) await new Promise((resolve) => connection.once('close', resolve));
    expect(connection?.destroyed).toBe(true);
  });
});

describe('what a webhook receiver gets', () => {
  test('is one POST with the signed bytes, the two headers, and nothing of ours that it need not know', async () => {
    await using receiver = await receiveRaw((socket) => socket.write(answerOf('ok')));
    const at = Math.floor(Date.now() / 1000);
    await poster.post({ webhookId: 'wh_42', url: `${receiver.url}?a=1&b=%20`, secret, body });

    const [request = ''] = receiver.requests;
    const [head = '', sent = ''] = request.split('\r\n\r\n');
    const [line, ...fields] = head.split('\r\n');
    expect(line).toBe('POST /hook?a=1&b=%20 HTTP/1.1');
    const headers = Object.fromEntries(fields.map((field) => field.split(/: (.*)/s, 2) as [string, string]));
    const signature = headers['X-Svc-Signature'] ?? '';
    expect(headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      'user-agent': 'svc-webhooks/1.0',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'accept-encoding': 'identity',
      'X-Svc-Webhook-Id': 'wh_42',
      'X-Svc-Signature': signature,
      Connection: 'keep-alive',
    });
    expect(sent).toBe(body);
    expect(verify(secret, signature, sent, at, 2)).toBe(true);
  });
});
