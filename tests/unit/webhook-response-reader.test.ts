import { describe, expect, test } from 'bun:test';
import { ResponseReader } from '../../src/sending/webhooks/http/response-reader.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const HINTS = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n';

type Read = readonly [reading: string, status: number, text: string, persists: boolean];
const RESPONSES: Readonly<Record<string, readonly [response: string, ...Read]>> = {
  'with a length': [`${HEAD}content-length: 5\r\n\r\nhello`, 'complete', 200, 'hello', true],
  'without a body': ['HTTP/1.1 204 No Content\r\n\r\n', 'complete', 204, '', true],
  'after hints': [`${HINTS}${HEAD}content-length: 0\r\n\r\n`, 'complete', 200, '', true],
  'in chunks': [
    `${CHUNKED}5\r\nhello\r\n00a;x="y"\r\n0123456789\r\n0\r\nx: y\r\n\r\n`,
    'complete',
    200,
    'hello0123456789',
    true,
  ],
  'that closes': [
    `${HEAD}connection: keep-alive, Close\r\ncontent-length: 2\r\n\r\nok`,
    'complete',
    200,
    'ok',
    false,
  ],
  'of HTTP/1.0': ['HTTP/1.0 500 No\r\ncontent-length: 2\r\n\r\nno', 'complete', 500, 'no', false],
  'with surplus': [`${HEAD}content-length: 2\r\n\r\nok${HEAD}\r\n`, 'complete', 200, 'ok', false],
  'malformed in its head': [`${HEAD}x : y\r\n\r\n`, 'malformed', 0, '', false],
  'with octets beyond ASCII': [
    `HTTP/1.1 200 \xe9\r\nX-\x7c\x7e: \t\x80\xff\r\nCONTENT-LENGTH:\t2 \r\n\r\nok`,
    'complete',
    200,
    'ok',
    true,
  ],
  'with neither reason nor value': [
    'HTTP/1.1 200\r\nx:\r\ncontent-length:0\r\n\r\n',
    'complete',
    200,
    '',
    true,
  ],
  'with a bare CR': [`${HEAD}x: y\rz: 1\r\n\r\n`, 'malformed', 0, '', false],
  'with a bare LF': [`${HEAD}x: y\nz: 1\r\n\r\n`, 'malformed', 0, '', false],
  'with a folded line': [
    `${HEAD}x: y\r\n z\r\n\t\r\ncontent-length: 2\r\n\r\nok`,
    'complete',
    200,
    'ok',
    true,
  ],
  // nginx 1.22.1 writes a value of `add_header` as it stands in the file, line ends included.
  'with a policy on several lines': [
    `${HEAD}csp: default-src 'self';\n    img-src *\r\ncontent-length: 2\r\n\r\nok`,
    'complete',
    200,
    'ok',
    true,
  ],
  'with a folded length': [`${HEAD}content-length: 2\r\n 1\r\n\r\nok`, 'malformed', 0, '', false],
  'with folded chunks': [`${HEAD}transfer-encoding: gzip,\r\n chunked\r\n\r\n`, 'malformed', 0, '', false],
  'with a fold before the fields': [`${HEAD} x: y\r\n\r\n`, 'malformed', 0, '', false],
  'with a field that has no name': [`${HEAD}: y\r\n\r\n`, 'malformed', 0, '', false],
  'with a field that has no colon': [`${HEAD}x\r\n\r\n`, 'malformed', 0, '', false],
  'with a control character': [`${HEAD}x: \x7f\r\n\r\n`, 'malformed', 0, '', false],
  'with two lengths': [`${HEAD}content-length: 2\r\nContent-Length: 2\r\n\r\nok`, 'malformed', 0, '', false],
  'with a length beside chunks': [
    `${CHUNKED.slice(0, -2)}content-length: 2\r\n\r\nok`,
    'malformed',
    0,
    '',
    false,
  ],
  'with a malformed trailer': [`${CHUNKED}0\r\nx y: z\r\n\r\n`, 'malformed', 200, '', false],
  'malformed in a chunk': [`${CHUNKED}2\r\nokX\r\n`, 'malformed', 200, 'ok', false],
  'cut off': [`${HEAD}content-length: 9\r\n\r\nhal`, 'more', 200, 'hal', false],
  'until it closes': [`${HEAD}\r\nthe rest`, 'more', 200, 'the rest', false],
};

function read(pieces: readonly string[]): Read {
  const reader = new ResponseReader();
  let reading: string = 'more';
  let taken = 0;
  for (const piece of pieces) {
    if (reading !== 'more') break;
    reading = reader.push(Buffer.from(piece, 'latin1'));
    taken += 1;
  }
  const rest = pieces.slice(taken).join('');
  const { status, persists } = reader;
  // Octets behind a complete answer are seen with it, or by the connection when it is idle.
  return [reading, status, reader.reply.text(), persists && rest === ''];
}

describe('a response of HTTP/1.1', () => {
  for (const [what, [response, ...expected]] of Object.entries(RESPONSES))
    test(`${what} reads the same wherever it is cut`, () => {
      expect(read([response])).toEqual(expected);
      expect(read([...response])).toEqual(expected);
      for (let cut = 1; cut < response.length; cut += 1)
        expect(read([response.slice(0, cut), response.slice(cut)])).toEqual(expected);
    });

  test('ends with its connection only where nothing else says its end', () => {
    const endOf = (response: string): boolean => {
      const reader = new ResponseReader();
      reader.push(Buffer.from(response));
      return reader.end();
    };
    expect(endOf(`${HEAD}\r\nthe rest`)).toBe(true);
    expect(endOf(`${HEAD}content-length: 9\r\n\r\nhal`)).toBe(false);
    expect(endOf(`${CHUNKED}2\r\nok\r\n`)).toBe(false);
    expect(endOf('HTTP/1.1 2')).toBe(false);
  });

  test.each([
    ['a head of 16,384 octets', `${HEAD}x: ${'y'.repeat(16_384 - HEAD.length - 3)}\r\n\r\n`, 'more'],
    ['a head of 16,385 octets', `${HEAD}x: ${'y'.repeat(16_385 - HEAD.length - 3)}\r\n\r\n`, 'malformed'],
    ['16 interim responses', 'HTTP/1.1 102 P\r\n\r\n'.repeat(16), 'more'],
    ['17 interim responses', 'HTTP/1.1 102 P\r\n\r\n'.repeat(17), 'malformed'],
    ['a chunk line of 1,024 octets', `${CHUNKED}2;${'x'.repeat(1_022)}\r\n`, 'more'],
    ['a chunk line of 1,025 octets', `${CHUNKED}2;${'x'.repeat(1_023)}\r\n`, 'malformed'],
    ['trailers of 16,384 octets', `${CHUNKED}0\r\nx: ${'y'.repeat(16_381)}\r\n`, 'more'],
    ['trailers of 16,385 octets', `${CHUNKED}0\r\nx: ${'y'.repeat(16_382)}\r\n`, 'malformed'],
  ])('has limits: %s', (_, response, reading) => {
    expect(new ResponseReader().push(Buffer.from(response))).toBe(reading as never);
  });
});
