import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { COMMAND, startServiceOnServer, TEST_KEY } from '../support/service.ts';

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

// The kernel drops a signal of the first process of a container while it has no handler (pid_namespaces(7)).
describe('the first process of a container', () => {
  const canBegin =
    process.platform === 'linux' && Bun.spawnSync(['unshare', '--pid', '--fork', 'true']).exitCode === 0;
  if (!canBegin)
    console.warn('Not root on Linux: signals to the first process of a container are not tried.');
  const FIRST = ['unshare', '--pid', '--fork', '--kill-child', ...COMMAND];
  const signalBelow = (pid: number, signal: 'SIGTERM' | 'SIGINT'): void => {
    const below = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
    process.kill(below, signal);
  };

  test.skipIf(!canBegin)('ends at once at a second SIGTERM', async () => {
    const env = { ...PRODUCTION, DRAIN_SECONDS: '5' };
    await using service = await startServiceOnServer({ command: FIRST, env });
    signalBelow(service.pid, 'SIGTERM');
    await eventually('the first is heeded', async () => service.output().includes('Draining') || undefined);
    signalBelow(service.pid, 'SIGTERM');
    expect(await service.ended).toBe(128 + constants.signals.SIGTERM);
  });

  test.skipIf(!canBegin)('ends at a SIGTERM while a service is still being read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stop-signals-'));
    const preload = join(folder, 'hold.ts');
    // The rest of the program is never read.
    writeFileSync(
      preload,
      `Bun.plugin({ name: 'hold', setup: ({ onLoad }) => onLoad({ filter: /commands.run\\.ts$/ }, () => {
        console.log('held');
        return new Promise(() => setInterval(() => {}, 60_000));
      }) });`,
    );
    const main = join(import.meta.dir, '../../src/main.ts');
    const words = [process.execPath, '--preload', preload, main, 'serve'];
    const env = { ...process.env, ...PRODUCTION, DATABASE_URL: 'postgres://127.0.0.1:9/none' };
    const service = Bun.spawn(['unshare', '--pid', '--fork', '--kill-child', ...words], {
      env,
      stdout: 'pipe',
    });
    expect(new TextDecoder().decode((await service.stdout.getReader().read()).value)).toBe('held\n');
    signalBelow(service.pid, 'SIGTERM');
    expect(await service.exited).toBe(128 + constants.signals.SIGTERM);
    rmSync(folder, { recursive: true });
  });

  test.skipIf(!canBegin)('ends at a SIGINT before it is a service, and as another command', async () => {
    const words = ['mcp', '--url', 'http://127.0.0.1:9', '--key', TEST_KEY];
    const command = Bun.spawn([...FIRST, ...words], { stdin: 'pipe', stdout: 'pipe' });
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    await command.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await command.stdin.flush();
    expect((await command.stdout.getReader().read()).value).toBeDefined();
    signalBelow(command.pid, 'SIGINT');
    expect(await command.exited).toBe(128 + constants.signals.SIGINT);
  });
});
