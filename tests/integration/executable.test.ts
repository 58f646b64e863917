import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { insisting } from '../support/insistent.ts';
import {
  COMPILERS,
  EXECUTABLE,
  LIVE_KEY,
  printed,
  type Service,
  type ServiceOptions,
  spawnService,
  startService,
  TEST_KEY,
} from '../support/service.ts';

// Runs the executable as the last stage of the Dockerfile does: alone, as a user who owns nothing but the
// volume.

const ROOT = resolve(import.meta.dir, '../..');
const CONTAINER_USER = 65_532;
const isRoot = process.getuid?.() === 0;

let home: string;
let executable: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'posthorn-executable-'));
  if (!EXECUTABLE) {
    const build = ['scripts/build.ts', join(home, 'built')];
    const built = spawnSync(process.execPath, build, { cwd: ROOT, encoding: 'utf8' });
    if (built.status !== 0) throw new Error(built.stdout + built.stderr);
  }
  chmodSync(home, 0o755);
  mkdirSync(join(home, 'image'));
  executable = join(home, 'image/posthorn');
  copyFileSync(EXECUTABLE ?? join(home, 'built/posthorn'), executable);
  chmodSync(executable, 0o555);
  chmodSync(join(home, 'image'), 0o555);
});

afterAll(() => {
  chmodSync(join(home, 'image'), 0o755);
  rmSync(home, { recursive: true, force: true });
});

/** An empty volume, and how the container would be run with it. */
function container(name: string): ServiceOptions & { readonly dataDir: string } {
  const dataDir = join(home, name);
  mkdirSync(dataDir, { mode: 0o700 });
  if (isRoot) chownSync(dataDir, CONTAINER_USER, CONTAINER_USER);
  return {
    command: [executable],
    cwd: join(home, 'image'),
    dataDir,
    ...(isRoot ? { uid: CONTAINER_USER } : {}),
    // Nowhere to write but the volume.
    env: {
      HOME: '/nonexistent',
      TMPDIR: '/nonexistent',
      PATH: '',
      ...Object.fromEntries(COMPILERS.map((setting) => setting.split('='))),
    },
  };
}

const firstEmail = {
  from: 'you@example.com',
  to: 'delivered@simulator.svc.test',
  subject: 'Hello',
  markdown: '# It works\n\nFrom an executable that stands **alone**.',
};

describe('the executable alone in an empty folder', () => {
  test('migrates, serves, delivers, stops with 0 and goes on where it stopped', async () => {
    const run = container('delivers');
    let id: string;
    {
      await using service = await startService(run);
      const client = insisting(createClient(service.url, TEST_KEY));
      const accepted = await client.post('/v1/emails', firstEmail);
      expect(accepted.status).toBe(202);
      id = accepted.body.data.id;
      await eventually('delivered', async () =>
        (await client.get(`/v1/emails/${id}`)).body.data.status === 'delivered' ? true : undefined,
      );
      expect(await service.stop()).toBe(0);
    }
    await using again = await startService(run);
    const { body } = await insisting(createClient(again.url, TEST_KEY)).get(`/v1/emails/${id}`);
    expect(body.data.html).toContain('<strong>alone</strong>');
    expect(readdirSync(join(home, 'image'))).toEqual(['posthorn']);
  });

  describe('with keys that it is given', () => {
    let service: Service;
    beforeAll(async () => {
      service = await startService(container('captures'));
    });
    afterAll(() => service[Symbol.asyncDispose]());

    test('takes the mail apart that stayed here, in a thread that is part of it', async () => {
      const client = insisting(createClient(service.url, LIVE_KEY));
      const domain = await client.post('/v1/domains', { name: 'sender.example' });
      expect(domain.body.data.status).toBe('verified');
      const mail = { ...firstEmail, from: 'you@sender.example', to: 'ada@example.com' };
      expect((await client.post('/v1/emails', mail)).status).toBe(202);
      const id = await eventually(
        'captured',
        async () => (await client.get('/v1/captured')).body.data[0]?.id,
      );
      expect((await client.get(`/v1/captured/${id}`)).body.data.html).toContain('<strong>alone</strong>');
    });

    test('answers the health check of its container', async () => {
      const env = { PORT: String(service.port) };
      const check = () => spawnSync(executable, ['health'], { env, encoding: 'utf8' });
      expect(check()).toMatchObject({ status: 0, stdout: 'ok\n' });
      await service.stop();
      expect(check().status).toBe(1);
    });

    test('never prints them', async () => {
      await printed(service, /Posthorn is set up/);
      expect(service.output()).not.toContain(LIVE_KEY);
      expect(service.output()).not.toContain(TEST_KEY);
    });
  });

  test('begins again with settings that cost less, and keeps those that the operator names', async () => {
    const compiler = 'BUN_JSC_thresholdForFTLOptimizeAfterWarmUp';
    const allocator = 'MIMALLOC_PURGE_HOLES_MIN_INTERVAL';
    const run = container('compilers');
    const settingsOf = async (env: Record<string, string>) => {
      await using service = await startService({ ...run, env: { ...run.env, ...env } });
      const environment = readFileSync(`/proc/${service.pid}/environ`, 'utf8').split('\0');
      return [compiler, allocator].map((name) => environment.find((each) => each.startsWith(name)));
    };
    expect(await settingsOf({})).toEqual([`${compiler}=1000000`, `${allocator}=10000`]);
    expect(await settingsOf({ [compiler]: '200000' })).toEqual([`${compiler}=200000`, `${allocator}=10000`]);
    expect(await settingsOf({ [compiler]: '200000', [allocator]: '100' })).toEqual([
      `${compiler}=200000`,
      `${allocator}=100`,
    ]);
  });

  test('prints generated keys on the first start and never again', async () => {
    const run = container('welcomes');
    const env = { ...run.env, BOOTSTRAP_LIVE_KEY: '', BOOTSTRAP_TEST_KEY: '' };
    {
      await using service = await startService({ ...run, env });
      await service.stop();
      const key = /test {2}(svc_test_[A-Za-z0-9]{32})\n/.exec(service.output())?.[1];
      expect(service.output()).toMatch(/live {2}svc_live_[A-Za-z0-9]{32}\n/);
      expect(service.output()).toContain(`Bearer ${key}`);
    }
    await using again = await startService({ ...run, env });
    await again.stop();
    expect(again.output()).not.toContain('svc_');
  });

  test('refuses a second process on the same data directory and leaves the first one alone', async () => {
    const run = container('shared');
    await using first = await startService(run);
    // The file alone is not what keeps the second one out.
    rmSync(join(run.dataDir, 'lock'));
    await using second = await spawnService(run);
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`Another Posthorn already uses the data directory ${run.dataDir}`);
    expect((await createClient(first.url).get('/health')).status).toBe(200);
  });

  test('says at once everything that is wrong with its configuration, and exits with 2', async () => {
    const run = container('misconfigured');
    await using service = await spawnService({ ...run, env: { ...run.env, PORT: 'x', LOG_LEVEL: 'y' } });
    expect(await service.ended).toBe(2);
    expect(service.output()).toContain('PORT is "x"');
    expect(service.output()).toContain('LOG_LEVEL is "y"');
    expect(readdirSync(run.dataDir)).toEqual([]);
  });
});
