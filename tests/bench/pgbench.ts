import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';

/** The yardstick: single-row inserts a second, and their mean latency in milliseconds. */
export interface Yardstick {
  readonly perSecond: number;
  readonly latencyMs: number;
}

/**
 * `pgbench`: single-row INSERT of as many bytes as an email takes, prepared, 64 clients, one commit each.
 * null where pgbench is not installed.
 */
export async function pgbench(url: string, bytes: number, seconds: number): Promise<Yardstick | null> {
  const program = Bun.which('pgbench');
  if (!program) return null;
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(
    'drop table if exists yardstick; create table yardstick (id text primary key, body text not null)',
  );
  await sql.end();
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-pgbench-'));
  try {
    const script = join(folder, 'insert.sql');
    writeFileSync(script, `insert into yardstick values (gen_random_uuid()::text, repeat('x', ${bytes}));\n`);
    const { hostname, port, username, password, pathname } = new URL(url);
    const run = Bun.spawn(
      [program, '-n', '-M', 'prepared', '-c', '64', '-j', '2', '-T', String(seconds), '-f', script].concat([
        '-h',
        hostname,
        '-p',
        port,
        '-U',
        username,
        pathname.slice(1),
      ]),
      { env: { PGPASSWORD: password, PATH: process.env.PATH ?? '' }, stdout: 'pipe', stderr: 'pipe' },
    );
    const output = await new Response(run.stdout).text();
    if ((await run.exited) !== 0) throw new Error(`pgbench failed: ${await new Response(run.stderr).text()}`);
    return {
      perSecond: Number(/tps = ([\d.]+)/.exec(output)?.[1]),
      latencyMs: Number(/latency average = ([\d.]+)/.exec(output)?.[1]),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
