import { expect, test } from 'bun:test';
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

test.skipIf(process.platform !== 'linux')('a service under nohup outlives its terminal', async () => {
  await using service = await startServiceOnServer({
    command: ['/bin/sh', '-c', `trap '' HUP; exec "$0" "$@"`, ...COMMAND],
    env: PRODUCTION,
  });
  process.kill(service.pid, 'SIGHUP');
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  expect(await service.stop()).toBe(0);
});
