import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

// The gate begins its steps in order, one for each core at a time: most of them use one. At the first failure
// it prints the output and the way to correct it.

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly fix: string;
}

const script = (name: string, ...flags: string[]) => [process.execPath, `scripts/${name}.ts`, ...flags];

const STEPS: readonly Step[] = [
  {
    name: 'promises',
    command: ['oxlint', '--type-aware', '--deny-warnings', 'src', 'machines', 'scripts', 'tests'],
    fix: 'await the promise, or write `void` where no caller waits for it',
  },
  {
    name: 'format and lint',
    command: ['biome', 'check', '--error-on-warnings', '.'],
    fix: 'run `bun run format`, and fix the rest by hand',
  },
  { name: 'types', command: ['tsc'], fix: 'fix the errors above' },
  {
    name: 'types in the browser',
    command: ['tsc', '-p', 'src/web/dashboard/web'],
    fix: 'fix the errors above',
  },
  { name: 'dead code', command: ['knip'], fix: 'remove the unused code' },
  {
    name: 'arrows',
    command: script('check-arrows'),
    fix: 'see "Areas" and "Other rules of the gate" in docs/architecture.md, and docs/style.md',
  },
  { name: 'migrations', command: script('migrations', '--check'), fix: 'bun run generate' },
  { name: 'diagrams', command: script('diagrams', '--check'), fix: 'bun run generate' },
  { name: 'areas', command: script('areas', '--check'), fix: 'bun run generate' },
  { name: 'statements', command: script('statements', '--check'), fix: 'bun run generate' },
  {
    name: 'OpenAPI',
    command: script('openapi', '--check'),
    fix: 'run `bun run generate`, or add the missing parts to the route',
  },
  { name: 'configuration table', command: script('configuration', '--check'), fix: 'bun run generate' },
  { name: 'metrics table', command: script('metrics', '--check'), fix: 'bun run generate' },
  { name: 'capacity', command: script('capacity', '--check'), fix: 'bun run generate' },
  {
    name: 'licences',
    command: script('licenses', '--check'),
    fix: 'bun run generate; a package that it names needs a look: scripts/licenses/license-of.ts',
  },
  {
    name: 'client',
    command: script('client', '--check'),
    fix: 'fix its types, or make it smaller: src/web/client',
  },
  { name: 'links', command: script('check-links'), fix: 'correct the link, or the name in the table' },
];

const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** The first lines of a text: a page of output is enough to begin with. */
function firstLines(text: string, most = 100): string {
  const lines = text.split('\n');
  return lines.length <= most
    ? text
    : `${lines.slice(0, most).join('\n')}\n… ${lines.length - most} lines more`;
}

interface Ended {
  readonly isGood: boolean;
  readonly output: string;
}

async function carryOut([program = '', ...args]: readonly string[]): Promise<Ended> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  try {
    const [status] = (await once(child, 'close')) as [number | null];
    return { isGood: status === 0, output: (await output).join('') };
  } catch (error) {
    return { isGood: false, output: String(error) };
  }
}

async function run(steps: readonly Step[]): Promise<boolean> {
  const begin = performance.now();
  const waiting = [...steps];
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step && !hasFailed; step = waiting.shift()) {
      const start = performance.now();
      const { isGood, output } = await carryOut(step.command);
      // A check that was under way beside the first failure is ignored.
      if (hasFailed) return;
      console.log(`${isGood ? '✓' : '✗'} ${step.name}  ${seconds(start)}`);
      if (isGood) continue;
      hasFailed = true;
      console.log(`\n${firstLines(output.trim())}\n\nTo fix it: ${step.fix}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  if (!hasFailed) console.log(`All ${steps.length} checks pass, ${seconds(begin)}.`);
  return !hasFailed;
}

process.exitCode = (await run(STEPS)) ? 0 : 1;
