import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../src/ops/torture/free-port.ts';

// Makes the data of a version, from which tests upgrade: tests/fixtures/upgrade, with a dump of PostgreSQL
// and an embedded directory.
//
// DATABASE_URL=postgres://… bun scripts/upgrade-fixture.ts [checkout of that version]
//
// The database has to be empty, and pg_dump of its version. Each release makes the fixture again, with the
// release before it.

const CHECKOUT = resolve(process.argv[2] ?? '.');
const FOLDER = resolve('tests/fixtures/upgrade');
const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'warn',
  SECRET_KEY: 'of-the-fixture-of-the-fixture-of-it',
  BOOTSTRAP_LIVE_KEY: `svc_live_${'L'.repeat(32)}`,
  BOOTSTRAP_TEST_KEY: `svc_test_${'T'.repeat(32)}`,
};

/** The stored data, as the version that stored it shows it. */
interface Stored {
  readonly path: string;
  readonly live: boolean;
  readonly shown: unknown;
}

/** Serves from the checkout, stores some of everything, and stops. */
async function fill(env: Record<string, string>): Promise<{ stored: Stored[]; scheduled: string }> {
  const port = await freePort();
  const words = [process.execPath, 'src/main.ts', 'serve'];
  const served = Bun.spawn(words, {
    cwd: CHECKOUT,
    stdout: 'ignore',
    stderr: 'inherit',
    env: { ...ENV, ...env, PORT: String(port) },
  });
  const ask = async (live: boolean, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${live ? ENV.BOOTSTRAP_LIVE_KEY : ENV.BOOTSTRAP_TEST_KEY}`,
        'content-type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return ((await response.json()) as { data: { id: string; lastEvent?: string } }).data;
  };
  while (!(await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.ok) await Bun.sleep(200);
  await ask(true, '/v1/domains', { name: 'fixture.example' });
  const email = { from: 'shop@fixture.example', subject: 'Kept', text: 'Of an earlier version' };
  const made: [boolean, string, object][] = [
    [true, '/v1/emails', { ...email, to: 'ada@example.com' }],
    ...['delivered', 'bounced', 'complained'].map((outcome): [boolean, string, object] => [
      false,
      '/v1/emails',
      { ...email, to: `${outcome}@simulator.svc.test` },
    ]),
    [true, '/v1/contacts', { email: 'ada@example.com', firstName: 'Ada 🐎' }],
    [true, '/v1/webhooks', { url: 'https://hooks.fixture.example/', events: ['bounced'] }],
  ];
  const paths: [boolean, string][] = [];
  for (const [live, path, body] of made) paths.push([live, `${path}/${(await ask(live, path, body)).id}`]);
  const scheduledAt = new Date(Date.now() + 60_000).toISOString();
  const later = { ...email, to: 'delivered@simulator.svc.test', scheduledAt };
  const { id: scheduled } = await ask(false, '/v1/emails', later);
  for (const [live, path] of paths.filter(([, one]) => one.startsWith('/v1/emails')))
    while (!/delivered|bounced|complained/.test((await ask(live, path)).lastEvent ?? ''))
      await Bun.sleep(100);
  const stored: Stored[] = [];
  for (const [live, path] of paths) stored.push({ path, live, shown: await ask(live, path) });
  served.kill('SIGTERM');
  if ((await served.exited) !== 0) throw new Error('The service did not stop cleanly.');
  return { stored, scheduled };
}

function run(program: string, ...words: string[]): string {
  const options = { cwd: CHECKOUT, encoding: 'utf8', maxBuffer: 1 << 30 } as const;
  const { status, stdout, stderr, error } = spawnSync(program, words, options);
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
  return stdout;
}

const url = process.env.DATABASE_URL;
if (!url) throw new Error('DATABASE_URL has to name an empty PostgreSQL database.');
mkdirSync(FOLDER, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-fixture-'));
try {
  const embedded = await fill({ DATA_DIR: dataDir });
  run('tar', '-C', dataDir, '-cf', join(dataDir, 'directory.tar'), 'postgres');
  const tar = await Bun.file(join(dataDir, 'directory.tar')).bytes();
  await Bun.write(join(FOLDER, 'embedded.tar.zst'), Bun.zstdCompressSync(tar, { level: 19 }));
  const server = await fill({ DATABASE_URL: url, DATA_DIR: dataDir });
  // Not every server has been built with lz4.
  const plain = ['--inserts', '--rows-per-insert=100', '--no-toast-compression'];
  const dump = run('pg_dump', ...plain, '--no-owner', '--no-privileges', url);
  // Lines that begin with a backslash are for psql alone.
  await Bun.write(join(FOLDER, 'dump.sql'), dump.replace(/^\\.*$/gm, ''));
  const migrations = run('ls', 'drizzle').match(/^\d{4}_\w+(?=\.sql$)/gm) ?? [];
  const of = run('git', 'rev-parse', '--short=12', 'HEAD').trim();
  const facts = { of, secretKey: ENV.SECRET_KEY, lastMigration: migrations.at(-1), embedded, server };
  writeFileSync(join(FOLDER, 'facts.json'), `${JSON.stringify(facts, null, 2)}\n`);
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
console.log(`Wrote ${FOLDER}.`);
