import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService, TEST_KEY } from '../support/service.ts';

/** Each test starts processes, which take seconds on a busy machine. */

/**
 * The process ids of the workers of one database, by their number; read from the system, not from the
 * service.
 */
function workersOf(url: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const index = words[words.indexOf('--worker') + 1];
      if (!words.includes('--worker') || index === undefined) continue;
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').includes(url)) found.set(index, Number(pid));
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

/** Sockets that listen on that port, as the kernel tells (proc_net_tcp: 0A is LISTEN). */
function listenersOn(port: number): number {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return sockets.filter((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return local.endsWith(address) && state === '0A';
  }).length;
}

test.skipIf(process.platform !== 'linux')(
  'workers share the port, one that dies comes back, and none stays behind',
  async () => {
    await using database = await createTestDatabase();
    await using service = await startService({
      env: { DATABASE_URL: database.url },
      args: ['--workers', '2'],
    });
    // The one that is left has to be there for requests when the other one dies.
    await eventually('two listeners', async () => listenersOn(service.port) === 2 || undefined);
    const both = workersOf(database.url);
    expect(both.size).toBe(2);

    // Without an account, one of them prints the link that makes the first one.
    await eventually('the link', async () => service.output().includes('/app/setup#token=') || undefined);
    expect(service.output().split('/app/setup#token=')).toHaveLength(2);

    // Each plans with its part of the memory.
    for (const pid of both.values())
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toContain('POSTHORN_WORKERS=2');

    const victim = both.get('1') as number;
    process.kill(victim, 'SIGKILL');
    await eventually('another worker 1', async () => {
      const now = workersOf(database.url).get('1');
      return now !== undefined && now !== victim ? true : undefined;
    });
    const reply = await fetch(`${service.url}/v1/workspace`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
    });
    expect(reply.status).toBe(200);

    expect(await service.stop()).toBe(0);
    expect(workersOf(database.url).size).toBe(0);
  },
);

test.skipIf(process.platform !== 'linux')(
  'what one worker has made a ticket for, another lets in, and once between them',
  async () => {
    await using database = await createTestDatabase();
    await using service = await startService({
      env: { DATABASE_URL: database.url },
      args: ['--workers', '2'],
    });
    await eventually('two listeners', async () => listenersOn(service.port) === 2 || undefined);
    // Each on a separate connection, which the kernel gives to one of the two.
    const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(`${service.url}/inspector/api/${path}`, {
        method: 'POST',
        keepalive: false,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const isLetIn = (ticket: string): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${service.url.replace('http', 'ws')}/inspect?ticket=${ticket}`);
        socket.onopen = () => {
          resolve(true);
          socket.close();
        };
        socket.onclose = () => resolve(false);
      });
    const cookie = (await ask('session', { key: TEST_KEY })).headers.get('set-cookie')?.split(';')[0] ?? '';
    for (let n = 0; n < 8; n++) {
      const made = (await (await ask('tickets', {}, { cookie, 'sec-fetch-site': 'same-origin' })).json()) as {
        data: { ticket: string };
      };
      const { ticket } = made.data;
      const letIn: boolean[] = [];
      for (let time = 0; time < 3; time++) letIn.push(await isLetIn(ticket));
      expect(letIn).toEqual([true, false, false]);
    }
    expect(await service.stop()).toBe(0);
  },
);

test.skipIf(process.platform !== 'linux').each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'workers that %s reaches before their parent finish their work: a supervisor and a terminal signal all processes',
  async (signal) => {
    await using database = await createTestDatabase();
    await using service = await startService({
      env: { DATABASE_URL: database.url, DRAIN_SECONDS: '5' },
      args: ['--workers', '2'],
    });
    const times = (words: string): number => service.output().split(words).length - 1;
    const workers = await eventually('two workers', async () => {
      const found = workersOf(database.url);
      return found.size === 2 && times('Listening') === 2 ? found : undefined;
    });
    for (const pid of workers.values()) process.kill(pid, signal);
    await eventually('both heed it', async () => times('Draining') === 2 || undefined);
    process.kill(service.pid, signal);
    expect(await service.ended).toBe(0);
    expect(times('Stopped')).toBe(2);
  },
);

test.skipIf(process.platform !== 'linux')('workers end when their parent process is killed', async () => {
  await using database = await createTestDatabase();
  await using service = await startService({ env: { DATABASE_URL: database.url }, args: ['--workers', '2'] });
  await service.kill();
  await eventually('no worker is left', async () => (workersOf(database.url).size === 0 ? true : undefined));
});

test('several workers on the embedded database are refused', async () => {
  const failed = await startService({ args: ['--workers', '2'] }).then(
    () => null,
    (error: Error) => error.message,
  );
  expect(failed).toContain('Several workers need a PostgreSQL: set DATABASE_URL.');
});
