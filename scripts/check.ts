import { spawnSync } from 'node:child_process';

// The gate runs every step in order. At the first failure it prints the output and the way to correct it.

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly fix: string;
}

const script = (name: string, ...flags: string[]) => [process.execPath, `scripts/${name}.ts`, ...flags];

const STEPS: readonly Step[] = [
  {
    name: 'format and lint',
    command: ['biome', 'check', '--error-on-warnings', '.'],
    fix: 'bun run format mends what can be mended without thought',
  },
  { name: 'types', command: ['tsc'], fix: 'mend what is named above' },
  {
    name: 'types in the browser',
    command: ['tsc', '-p', 'src/dashboard/web'],
    fix: 'mend what is named above',
  },
  {
    name: 'promises',
    command: ['oxlint', '--type-aware', '--deny-warnings', 'src', 'machines', 'scripts', 'tests'],
    fix: 'await the promise, or say `void` where nobody waits for it',
  },
  { name: 'dead code', command: ['knip'], fix: 'remove what nothing uses' },
  {
    name: 'arrows',
    command: script('check-arrows'),
    fix: 'see "Which way imports go" in docs/architecture.md',
  },
  { name: 'migrations', command: script('migrations', '--check'), fix: 'bun run generate' },
  { name: 'diagrams', command: script('diagrams', '--check'), fix: 'bun run generate' },
  { name: 'OpenAPI', command: script('openapi', '--check'), fix: 'bun run generate' },
  {
    name: 'OpenAPI lint',
    command: ['redocly', 'lint', 'src/modules/docs/openapi.json'],
    fix: 'say in the route what is missing',
  },
  { name: 'configuration table', command: script('configuration', '--check'), fix: 'bun run generate' },
  {
    name: 'licences',
    command: script('licenses', '--check'),
    fix: 'bun run generate; a package that it names needs a look: scripts/licenses/license-of.ts',
  },
  {
    name: 'client',
    command: script('client', '--check'),
    fix: 'mend its types, or make it smaller: src/client',
  },
  { name: 'links', command: script('check-links'), fix: 'correct the link, or the name in the table' },
];

const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** A page of output is enough to begin with. */
function firstLines(text: string, most = 100): string {
  const lines = text.split('\n');
  return lines.length <= most
    ? text
    : `${lines.slice(0, most).join('\n')}\n… ${lines.length - most} lines more`;
}

function run(steps: readonly Step[]): boolean {
  const begin = performance.now();
  for (const { name, command, fix } of steps) {
    const start = performance.now();
    const [program = '', ...args] = command;
    const done = spawnSync(program, args, { encoding: 'utf8' });
    if (done.status !== 0) {
      console.log(`✗ ${name}  ${seconds(start)}\n`);
      console.log(firstLines(`${done.error?.message ?? ''}${done.stdout ?? ''}${done.stderr ?? ''}`.trim()));
      console.log(`\nTo mend it: ${fix}`);
      return false;
    }
    console.log(`✓ ${name}  ${seconds(start)}`);
  }
  console.log(`All ${steps.length} checks hold, ${seconds(begin)}.`);
  return true;
}

process.exitCode = run(STEPS) ? 0 : 1;
