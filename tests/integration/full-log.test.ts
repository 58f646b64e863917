import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { COMMAND, startServiceOnServer, TEST_KEY } from '../support/service.ts';

// The disk of the log is full, or that of a command's output. /dev/full answers every write with ENOSPC.

const ON_LINUX = process.platform === 'linux';
const PRODUCTION = { SECRET_KEY: 'only-for-tests-only-for-tests-only', LOG_LEVEL: 'trace' };
const MESSAGE = { from: 'a@example.com', to: 'delivered@simulator.svc.test', subject: 'Full', text: 'x' };

/**
 * A pipe whose reader has gone: a pipe with a name is opened to both sides, which opens it to write, and then
 * closed.
 */
const READER_GONE =
  'f=$(mktemp -u) && mkfifo "$f" && exec 3<>"$f" 4>"$f" 3<&- && rm "$f" && exec "$0" "$@" >&4 4>&-';

test.skipIf(!ON_LINUX).each([
  ['a full disk', 'exec "$0" "$@" >/dev/full'],
  ['a full disk, as its errors', 'exec "$0" "$@" >/dev/full 2>&1'],
  ['a reader that has gone', READER_GONE],
])('a service whose log goes to %s starts, sends and stops as any other', async (_, script) => {
  await using service = await startServiceOnServer({
    command: ['/bin/sh', '-c', script, ...COMMAND],
    env: PRODUCTION,
  });
  for (let time = 0; time < 3; time++) {
    const sent = await fetch(`${service.url}/v1/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(MESSAGE),
    });
    expect(sent.status).toBe(202);
  }
  expect(await service.stop()).toBe(0);
});

test.skipIf(!ON_LINUX).each(['version', 'machines', 'licenses'])(
  'posthorn %s, whose output finds no room, fails and says why',
  async (command) => {
    const [program = '', ...words] = COMMAND;
    const full = openSync('/dev/full', 'w');
    const child = spawn(program, [...words, command], { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    let errors = '';
    child.stderr?.on('data', (chunk) => (errors += chunk));
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(errors).toStartWith('The output could not be written: ENOSPC');
    expect(errors).not.toContain(' at ');
  },
);
