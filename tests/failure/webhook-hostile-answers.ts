import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { PostError } from '../../src/sending/webhooks/http/post-result.ts';
import { answerOf, repeatedly } from '../support/raw-receiver.ts';

/** A receiver that answers in its own way, and what is to come of it. */
interface HostileAnswer {
  readonly name: string;
  readonly behave: (socket: Socket) => void;
  readonly httpStatus: number;
  readonly error: PostError | null;
  readonly responseBody?: string | RegExp;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
export const HOSTILE_ANSWERS: readonly HostileAnswer[] = [
  { name: 'never answers', behave: () => {}, httpStatus: 0, error: 'timeout' },
  {
    name: 'drips its headers',
    behave: (socket) => {
      socket.write(HEAD);
      repeatedly(socket, 10, () => socket.write('x: y\r\n'));
    },
    httpStatus: 0,
    error: 'timeout',
  },
  {
    name: 'drips its body',
    behave: (socket) => {
      socket.write(`${HEAD}content-length: 1000\r\n\r\n`);
      repeatedly(socket, 10, () => socket.write('.'));
    },
    httpStatus: 200,
    error: 'timeout',
    responseBody: /^\.+$/,
  },
  {
    name: 'sends a body without an end',
    behave: (socket) => {
      socket.write(`${HEAD}\r\n`);
      repeatedly(socket, 1, () => socket.write('z'.repeat(65_536)));
    },
    httpStatus: 200,
    error: null,
    responseBody: 'z'.repeat(1000),
  },
  {
    name: 'sends chunks without an end, and fails',
    behave: (socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n');
      repeatedly(socket, 1, () => socket.write('4\r\n☃.\r\n'.repeat(100)));
    },
    httpStatus: 500,
    error: null,
    responseBody: '☃.'.repeat(500),
  },
  {
    name: 'sends a gzip bomb',
    behave: (socket) => {
      const bomb = gzipSync(Buffer.alloc(50_000_000));
      socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    },
    httpStatus: 200,
    error: null,
    responseBody: /^.\uFFFD/,
  },
  {
    name: 'says 100 Continue and no more',
    behave: (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
    httpStatus: 0,
    error: 'timeout',
  },
  {
    name: 'says 100 Continue, 103 Early Hints, then answers',
    behave: (socket) =>
      socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${answerOf('ok')}`),
    httpStatus: 200,
    error: null,
    responseBody: 'ok',
  },
  {
    name: 'floods 1xx answers',
    behave: (socket) =>
      repeatedly(socket, 1, () => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(50))),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'switches protocols',
    behave: (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'sends one giant header',
    behave: (socket) => {
      socket.write(`${HEAD}x: `);
      repeatedly(socket, 1, () => socket.write('y'.repeat(65_536)));
    },
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'sends headers without an end',
    behave: (socket) => {
      socket.write(HEAD);
      repeatedly(socket, 1, () => socket.write('x: y\r\n'.repeat(1000)));
    },
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'redirects',
    behave: (socket) =>
      socket.write(answerOf('over there', '302 Found', 'location: http://127.0.0.1:1/\r\n')),
    httpStatus: 302,
    error: null,
    responseBody: 'over there',
  },
  { name: 'resets', behave: (socket) => socket.resetAndDestroy(), httpStatus: 0, error: 'connection_lost' },
  { name: 'hangs up', behave: (socket) => socket.end(), httpStatus: 0, error: 'connection_lost' },
  {
    name: 'hangs up in the middle of its body',
    behave: (socket) => socket.end(`${HEAD}content-length: 50\r\n\r\nhalf`),
    httpStatus: 200,
    error: 'connection_lost',
    responseBody: 'half',
  },
  {
    name: 'breaks off a chunk',
    behave: (socket) => socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n9\r\nhalf`),
    httpStatus: 200,
    error: 'connection_lost',
    responseBody: 'half',
  },
  {
    name: 'sends a chunk that is none',
    behave: (socket) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`),
    httpStatus: 200,
    error: 'malformed_answer',
    responseBody: '',
  },
  {
    name: 'speaks SSH',
    behave: (socket) => socket.end('SSH-2.0-x\r\n'),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'speaks HTTP/0.9',
    behave: (socket) => socket.end('<p>ok</p>'),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'gives its body two lengths',
    behave: (socket) =>
      socket.end(`${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'answers 999',
    behave: (socket) => socket.write(answerOf('ok', '999 Odd')),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'answers 000',
    behave: (socket) => socket.write(answerOf('ok', '000 Odd')),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'answers 204 and then a body',
    behave: (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\nsurprise'),
    httpStatus: 204,
    error: null,
    responseBody: '',
  },
  {
    name: 'answers and then talks nonsense',
    behave: (socket) => socket.write(`${answerOf('ok')}nonsense`),
    httpStatus: 200,
    error: null,
    responseBody: 'ok',
  },
  {
    name: 'answers twice',
    behave: (socket) => socket.write(answerOf('first') + answerOf('second')),
    httpStatus: 200,
    error: null,
    responseBody: 'first',
  },
  {
    name: 'answers until it closes',
    behave: (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nold'),
    httpStatus: 200,
    error: null,
    responseBody: 'old',
  },
  {
    name: 'answers NUL and bytes that are no text',
    behave: (socket) =>
      socket.write(
        Buffer.concat([Buffer.from(`${HEAD}content-length: 3\r\n\r\n`), Buffer.from([0, 0xff, 0x6b])]),
      ),
    httpStatus: 200,
    error: null,
    responseBody: '\uFFFD\uFFFDk',
  },
  {
    name: 'gives its length twice',
    behave: (socket) => socket.write(`${HEAD}content-length: 2\r\ncontent-length: 2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'gives a list of lengths',
    behave: (socket) => socket.write(`${HEAD}content-length: 2, 2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'gives a negative length',
    behave: (socket) => socket.write(`${HEAD}content-length: -2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'gives a length with a sign',
    behave: (socket) => socket.write(`${HEAD}content-length: +2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'gives a length beyond all numbers',
    behave: (socket) => socket.write(`${HEAD}content-length: ${'9'.repeat(30)}\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'puts white space before a colon',
    behave: (socket) => socket.write(`${HEAD}content-length : 2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'folds the header that tells the end of its answer',
    behave: (socket) => socket.write(`${HEAD}content-length:\r\n 2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'folds another header',
    behave: (socket) => socket.write(`${HEAD}x: a\r\n b\r\ncontent-length: 2\r\n\r\nok`),
    httpStatus: 200,
    error: null,
    responseBody: 'ok',
  },
  {
    name: 'ends its lines with LF alone',
    behave: (socket) => socket.end('HTTP/1.1 200 OK\ncontent-length: 2\n\nok'),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'hides a NUL in a header',
    behave: (socket) => socket.write(`${HEAD}x: a\0b\r\ncontent-length: 2\r\n\r\nok`),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'speaks HTTP/1.2',
    behave: (socket) => socket.write('HTTP/1.2 200 OK\r\ncontent-length: 2\r\n\r\nok'),
    httpStatus: 0,
    error: 'malformed_answer',
  },
  {
    name: 'sends a chunk longer than it said',
    behave: (socket) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nokk\r\n0\r\n\r\n`),
    httpStatus: 200,
    error: 'malformed_answer',
    responseBody: 'ok',
  },
  {
    name: 'sends a chunk of a negative size',
    behave: (socket) => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n-2\r\nok`),
    httpStatus: 200,
    error: 'malformed_answer',
    responseBody: '',
  },
  {
    name: 'sends chunks with extensions and trailers',
    behave: (socket) =>
      socket.write(`${HEAD}Transfer-Encoding: Chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nx: y\r\n\r\n`),
    httpStatus: 200,
    error: null,
    responseBody: 'ok',
  },
  {
    name: 'answers without a reason',
    behave: (socket) => socket.write('HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok'),
    httpStatus: 200,
    error: null,
    responseBody: 'ok',
  },
  {
    name: 'hangs up in the middle of its headers',
    behave: (socket) => socket.end(`${HEAD}content-le`),
    httpStatus: 0,
    error: 'connection_lost',
  },
  {
    name: 'answers in a coding that it does not end',
    behave: (socket) => socket.end(`${HEAD}transfer-encoding: gzip\r\n\r\nraw`),
    httpStatus: 200,
    error: null,
    responseBody: 'raw',
  },
  {
    name: 'begins a chunk and never ends its line',
    behave: (socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n2;`);
      repeatedly(socket, 1, () => socket.write('x'.repeat(500)));
    },
    httpStatus: 200,
    error: 'malformed_answer',
    responseBody: '',
  },
  {
    name: 'sends trailers without an end',
    behave: (socket) => {
      socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n`);
      repeatedly(socket, 1, () => socket.write('x: y\r\n'.repeat(500)));
    },
    httpStatus: 200,
    error: 'malformed_answer',
    responseBody: '',
  },
  {
    name: 'cuts its answer into single octets',
    behave: (socket) => {
      const octets = Buffer.from(
        `HTTP/1.1 103 Hints\r\n\r\n${HEAD}transfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n`,
      );
      let sent = 0;
      repeatedly(socket, 0, () => {
        if (sent < octets.length) socket.write(octets.subarray(sent, ++sent));
      });
    },
    httpStatus: 200,
    error: null,
    responseBody: 'one',
  },
];
