import { describe, expect, test } from 'bun:test';
import { dirname, join, relative, resolve } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import { runCommandLine } from '../../src/ops/commands/command-line.ts';
import { loadConfig } from '../../src/platform/config/config.ts';
import { SETTINGS } from '../../src/platform/config/settings/settings.ts';

async function run(words: string, environment: Record<string, string> = {}) {
  const out: string[] = [];
  const error: string[] = [];
  const terminal = {
    out: (text: string) => void out.push(text),
    error: (text: string) => void error.push(text),
  };
  const code = await runCommandLine(words.split(' '), terminal, () => loadConfig(environment, true));
  return { code, out: out.join(''), error: error.join('') };
}

test.each(['version', '--version', '-v'])(
  'posthorn %s prints the version, and that no executable was built',
  async (words) => {
    expect(await run(words)).toEqual({ code: 0, out: `${version} (from source)\n`, error: '' });
  },
);

test('--help names every command', async () => {
  const { code, out } = await run('--help');
  expect(code).toBe(0);
  for (const name of [
    'serve',
    'migrate',
    'keys',
    'plan',
    'workspaces',
    'members',
    'machines',
    'doctor',
    'health',
    'licenses',
    'version',
  ])
    expect(out).toContain(name);
});

test('serve --help explains every setting and touches nothing', async () => {
  const { code, out } = await run('serve --help', { PORT: 'wrong' });
  expect(code).toBe(0);
  for (const [name, { about, kind, otherwise }] of Object.entries(SETTINGS)) {
    expect(out).toContain(`  ${name} `);
    expect(out).toContain(about);
    expect(out).toContain(`${kind.allowed} (${otherwise})`);
  }
});

test('every problem of a wrong configuration is on the error stream, with exit code 2', async () => {
  const { code, out, error } = await run('serve', { PORT: 'x', LOG_LEVEL: 'y' });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(error).toContain('PORT is "x"');
  expect(error).toContain('LOG_LEVEL is "y"');
});

test.each(['fly', 'serve --fast', 'keys create', 'keys create --env staging', 'plan set ws_1 gold'])(
  'posthorn %s is not understood: exit code 2',
  async (words) => {
    const { code, out, error } = await run(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).not.toBe('');
  },
);

describe('machines', () => {
  test('are listed', async () => {
    expect((await run('machines')).out).toMatch(/^email {3}.+\napiKey {2}.+\n/);
  });

  test.each([
    ['machines apiKey', /^stateDiagram-v2\n {2}\[\*\] --> active\n/],
    ['machines email --format json', /^\{\n {2}"id": "email"/],
    ['machines email --format stately', /^import \{ createMachine \} from 'xstate';/],
  ])('%s', async (words, shape) => {
    const { code, out } = await run(words);
    expect(code).toBe(0);
    expect(out).toMatch(shape);
  });

  test('that do not exist are an error which names those that do', async () => {
    const { code, error } = await run('machines parcel');
    expect(code).toBe(2);
    expect(error).toContain('email, apiKey');
  });
});

test('health fails with a sentence when nothing listens', async () => {
  const { code, error } = await run('health', { HOST: '127.0.0.1', PORT: '9' });
  expect(code).toBe(1);
  expect(error).toContain('http://127.0.0.1:9/health');
});

test('nothing of the service, the database or a torture is loaded before a command is known', async () => {
  const root = resolve(import.meta.dir, '../../src');
  const scanner = new Bun.Transpiler({ loader: 'ts' });
  const loaded = new Set([join(root, 'ops/commands/command-line.ts')]);
  for (const file of loaded)
    for (const { path, kind } of scanner.scanImports(await Bun.file(file).text()))
      if (kind === 'import-statement' && path.startsWith('.') && path.endsWith('.ts'))
        loaded.add(join(dirname(file), path));
  const files = [...loaded].map((file) => relative(root, file));
  // The imports are followed at all: two files down from the first.
  expect(files).toContain('platform/config/settings/body-settings.ts');
  const HEAVY =
    /^(service\.ts|engine\/|sending\/|web\/|mail\/|ops\/(?!commands\/)|platform\/db\/(?!server\/server-urls))/;
  expect(files.filter((file) => HEAVY.test(file))).toEqual([]);
});
