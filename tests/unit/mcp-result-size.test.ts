import { expect, test } from 'bun:test';
import { Posthorn } from '../../src/web/client/posthorn.ts';
import { fetchBeginnings, LONGEST_RESULT } from '../../src/web/mcp/result-size.ts';

const HEADERS = {
  'content-type': 'message/rfc822',
  'content-disposition': 'attachment; filename="em_1.eml"',
};

/** The message that a client gets, of so many chunks, and how much of it was read. */
async function read(chunk: string, count: number) {
  let given = 0;
  let isCancelled = false;
  const octets = new TextEncoder().encode(chunk);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (given++ < count) controller.enqueue(octets);
      else controller.close();
    },
    cancel() {
      isCancelled = true;
    },
  });
  const ask = async () => new Response(body, { headers: HEADERS });
  const posthorn = new Posthorn({
    apiKey: 'key',
    baseUrl: 'http://posthorn.test',
    maxRetries: 0,
    fetch: fetchBeginnings(ask),
  });
  const text = await (await posthorn.emails.raw('em_1')).text();
  return { text, given, isCancelled };
}

test('of a long message no more is read than a result can show', async () => {
  for (const character of ['x', 'ü', '€', '😀']) {
    const { text, given, isCancelled } = await read(character.repeat(16_384), 400);
    expect(text.length).toBeGreaterThan(LONGEST_RESULT);
    expect(text.slice(0, LONGEST_RESULT)).toBe(character.repeat(LONGEST_RESULT / character.length));
    expect(given).toBeLessThan(20);
    expect(isCancelled).toBe(true);
  }
});

test('a message that a result can show is read whole', async () => {
  const { text, isCancelled } = await read('x'.repeat(LONGEST_RESULT / 4), 4);
  expect(text).toBe('x'.repeat(LONGEST_RESULT));
  expect(isCancelled).toBe(false);
});
