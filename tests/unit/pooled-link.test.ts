import { afterEach, expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { DIRECT } from '../../src/platform/db/server/connect.ts';
import { findLink } from '../../src/platform/db/server/link.ts';
import { PostgresDatabase } from '../../src/platform/db/server/postgres.ts';
import { classify } from '../../src/platform/db/sqlstate.ts';

const BACKEND = 42;
let server: Server | undefined;
afterEach(() => server?.close());

const message = (type: string, ...parts: (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const int = (value: number, bytes: 2 | 4): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};
const READY = message('Z', 'I');
const greeting = (pid: number): Buffer =>
  Buffer.concat([message('R', int(0, 4)), message('K', int(pid, 4), int(7, 4)), READY]);
/** The text 42 in a column named pid, of type integer. */
const ANSWER = Buffer.concat([
  message('T', int(1, 2), 'pid\0', int(0, 4), int(0, 2), int(23, 4), int(4, 2), int(-1, 4), int(0, 2)),
  message('D', int(1, 2), int(2, 4), String(BACKEND)),
  message('C', 'SELECT 1\0'),
  READY,
]);
const REFUSAL = message('E', 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0');

const WRONG_PASSWORD = message('E', 'SFATAL\0C08P01\0MSASL authentication failed\0\0');
/** The time for questions that are answered. */
const PATIENCE_MS = 5_000;

/** Starts what greets with a process id, and perhaps refuses settings; answers its URL. */
async function startGreeter(
  pid: number,
  refusesSettings: boolean,
  then: 'greet' | 'refuse' | 'wait' = 'greet',
): Promise<string> {
  const greet = (socket: Socket): void => {
    let isGreeted = false;
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      if (isGreeted) {
        if (then === 'greet' && chunk[0] === 'Q'.charCodeAt(0)) socket.write(ANSWER);
      } else if (refusesSettings && chunk.includes('statement_timeout')) socket.end(REFUSAL);
      else if (then === 'refuse') socket.end(WRONG_PASSWORD);
      else {
        isGreeted = true;
        socket.write(greeting(pid));
      }
    });
  };
  server = createServer(greet).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/x`;
}

test.each([
  ['a server itself', BACKEND, false, DIRECT],
  ['a pooler, which greets with another process id', 7, false, { ...DIRECT, isPooled: true }],
  ['a pooler that refuses settings', 7, true, { ...DIRECT, isPooled: true, takesSettings: false }],
] as const)('a URL leads to %s', async (_, pid, refusesSettings, link) => {
  expect(await findLink(await startGreeter(pid, refusesSettings), PATIENCE_MS)).toEqual(link);
});

test('the connection that showed a server itself serves the first statement', async () => {
  const url = await startGreeter(BACKEND, false);
  let connections = 0;
  server?.on('connection', () => connections++);
  const database = await PostgresDatabase.open(url);
  await database.script('select 1');
  expect(connections).toBe(1);
  await database.close();
});

test('a caller that needs separate settings learns where to go', () => {
  const refused = Object.assign(new Error('unsupported startup parameter: jit'), { code: '08P01' });
  expect(classify(refused)).toMatchObject({
    applied: 'no',
    message: expect.stringContaining('behind a pooler that refuses settings: name the server itself'),
  });
});

test('a URL that leads nowhere counts as a server: the first statement says what is wrong', async () => {
  const url = await startGreeter(BACKEND, false);
  server?.close();
  await once(server as Server, 'close');
  expect(await findLink(url, PATIENCE_MS)).toBe(DIRECT);
});

/** PgBouncer greets a client whose server is away, and answers it after query_wait_timeout, two minutes. */
test.each([
  ['refuses a password says so, and not that it refuses settings', 'refuse', 'refuses the connection', 60],
  // Of a silent one nothing else tells than its time.
  ['lets clients wait for a server that is away', 'wait', 'does not answer', 0.3],
] as const)('a pooler that refuses settings and %s', async (_, then, says, seconds) => {
  const database = await PostgresDatabase.open(await startGreeter(7, true, then), seconds);
  try {
    const refused = await database.ping().catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining(says) });
  } finally {
    await database.close();
  }
});
