import { expect, test } from 'bun:test';
import { eventually } from '../support/eventually.ts';
import { COMMAND, startServiceOnServer } from '../support/service.ts';

const PRODUCTION = { SECRET_KEY: 'only-for-tests-only-for-tests-only' };

test.skipIf(process.platform !== 'linux').each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s lets the service finish its work and end with 0',
  async (signal) => {
    await using service = await startServiceOnServer({ command: COMMAND, env: PRODUCTION });
    process.kill(service.pid, signal);
    expect(await service.ended).toBe(0);
    expect(service.output()).toMatch(/Stopped"?}?\s*$/);
  },
);

test.skipIf(process.platform !== 'linux')(
  'a terminal that closes sends SIGHUP twice: work in flight is finished all the same',
  async () => {
    const env = { ...PRODUCTION, DRAIN_SECONDS: '5' };
    await using service = await startServiceOnServer({ command: COMMAND, env });
    process.kill(service.pid, 'SIGHUP');
    await eventually('the first is heeded', async () => service.output().includes('Draining') || undefined);
    process.kill(service.pid, 'SIGHUP');
    expect(await service.ended).toBe(0);
    expect(service.output()).toMatch(/Stopped"?}?\s*$/);
  },
);

test.skipIf(process.platform !== 'linux')('a service under nohup outlives its terminal', async () => {
  await using service = await startServiceOnServer({
    command: ['/bin/sh', '-c', `trap '' HUP; exec "$0" "$@"`, ...COMMAND],
    env: PRODUCTION,
  });
  process.kill(service.pid, 'SIGHUP');
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  expect(await service.stop()).toBe(0);
});
