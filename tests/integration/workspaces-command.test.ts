import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { runCommandLine } from '../../src/ops/commands/command-line.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { createTestDatabase } from '../support/postgres.ts';

test('posthorn workspaces: made, named, archived, exported and deleted by the operator', async () => {
  const database = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-workspaces-'));
  const run = async (...words: string[]) => {
    const [out, error]: string[][] = [[], []];
    const terminal = {
      out: (text: string) => void out?.push(text),
      error: (text: string) => void error?.push(text),
    };
    const environment = {
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      DEFAULT_PLAN: 'growth',
      SECRET_KEY: 'k'.repeat(32),
    };
    const code = await runCommandLine(words, terminal, () => loadConfig(environment));
    return { code, out: out?.join('') ?? '', error: error?.join('') ?? '' };
  };
  try {
    const made = await run('workspaces', 'create', 'Customer one');
    const id = made.out.trim();
    expect(id).toMatch(/^ws_[0-9a-z]{24}$/);
    expect((await run('workspaces', 'create', 'X', '--owner', 'nobody@acme.example')).code).toBe(1);
    expect((await run('workspaces', 'rename', id, 'Customer 1')).code).toBe(0);
    expect((await run('workspaces', 'list')).out).toContain(`${id}  growth     active    Customer 1\n`);
    expect(await run('workspaces', 'delete', id)).toMatchObject({
      code: 1,
      error: expect.stringContaining('archive'),
    });
    expect((await run('workspaces', 'archive', id)).code).toBe(0);
    expect((await run('workspaces', 'archive', id, '--undo')).code).toBe(0);
    expect((await run('workspaces', 'list')).out).toContain('active');
    await run('workspaces', 'archive', id);

    const file = join(folder, 'customer.jsonl');
    expect((await run('workspaces', 'export', id, file)).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const rows = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows[0]).toMatchObject({ table: 'workspaces', row: { id, name: 'Customer 1' } });
    const acts = rows.filter(({ table }) => table === 'audit_log').map(({ row }) => row);
    expect(acts.map(({ action }) => action)).toContain('workspace.created');
    expect(acts.map(({ request_id }) => request_id)).toEqual(acts.map(() => null));

    // One that was cut off is shown, and goes on.
    const server = postgres(database.url, { max: 1 });
    await server`update workspaces set erase_at = now() where id = ${id}`;
    await server.end();
    expect((await run('workspaces', 'list')).out).toContain(`${id}  growth     deleted   Customer 1`);
    expect(await run('workspaces', 'delete', id)).toEqual({
      code: 0,
      out: `${id} was deleted.\n`,
      error: '',
    });
    expect((await run('workspaces', 'list')).out).toBe('');
    for (const words of [
      ['delete', id],
      ['archive', id],
      ['rename', id, 'X'],
      ['export', id, join(folder, 'x')],
    ])
      expect((await run('workspaces', ...words)).code).toBe(1);
    expect((await run('members', 'reset-password', 'nobody@acme.example')).code).toBe(1);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
