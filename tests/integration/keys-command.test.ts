import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { runCommandLine } from '../../src/ops/commands/command-line.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { createTestDatabase } from '../support/postgres.ts';

// `posthorn keys create`, and the workspace that it makes a key for.

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const folder = mkdtempSync(join(tmpdir(), 'posthorn-keys-'));
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.close();
});

async function run(...words: string[]) {
  const [out, error]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    error: (text: string) => void error.push(text),
  };
  const environment = { DATABASE_URL: database.url, DATA_DIR: folder, SECRET_KEY: 'k'.repeat(32) };
  const code = await runCommandLine(words, terminal, () => loadConfig(environment));
  return { code, out: out.join(''), error: error.join('') };
}

const create = (...more: string[]) => run('keys', 'create', '--env', 'test', ...more);

/** The workspaces of all keys, in the order in which these were made. */
async function owners(): Promise<readonly string[]> {
  const server = postgres(database.url, { max: 1 });
  const rows = await server<{ workspace_id: string }[]>`select workspace_id from api_keys order by id`;
  await server.end();
  return rows.map((row) => row.workspace_id);
}

const KEY = { code: 0, out: expect.stringMatching(/^svc_test_\w+\n$/), error: '' };

test('a key is made for the only workspace, for the one that is named, and for none that is not meant', async () => {
  expect(await create()).toEqual(KEY);
  const second = (await run('workspaces', 'create', 'Customer')).out.trim();
  const unsaid = await create();
  expect({ code: unsaid.code, out: unsaid.out }).toEqual({ code: 1, out: '' });
  expect(unsaid.error).toContain('There are 2 workspaces: choose one with --workspace <id>.');
  expect(unsaid.error).toContain(`  ${second}  Customer\n`);
  expect(await create('--workspace', 'ws_nobody')).toMatchObject({
    code: 1,
    error: 'There is no workspace ws_nobody: `posthorn workspaces list` shows them.\n',
  });
  expect(await create('--workspace', second)).toEqual(KEY);

  await run('workspaces', 'archive', second);
  expect(await create('--workspace', second)).toMatchObject({
    code: 1,
    error: expect.stringContaining(`posthorn workspaces archive --undo ${second}`),
  });
  expect(await create()).toEqual(KEY);
  const [first, ...others] = await owners();
  expect(others).toEqual([second, first as string]);
});

test('its help names the workspace', async () => {
  expect((await run('keys', 'create', '--help')).out).toContain('--workspace <id>');
});
