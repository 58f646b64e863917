import { describe, expect, test } from 'bun:test';
import { circlesIn } from '../../scripts/arrows/circles.ts';
import { importsOf, problemsIn, type SourceFile } from '../../scripts/arrows/rules.ts';

/** All problems but that the files are short, as examples are. */
const problemsOf = (files: readonly SourceFile[]) =>
  problemsIn(files).filter((problem) => !problem.includes('merge it with its neighbour'));
const problems = (path: string, text: string) => problemsOf([{ path, text }]);

describe('imports are found', () => {
  test.each([
    [`import { a } from './a.ts';`, './a.ts'],
    [`import type { A } from './a.ts';`, './a.ts'],
    [`import {\n  a,\n  b,\n} from './a.ts';`, './a.ts'],
    [`export { a } from './a.ts';`, './a.ts'],
    [`export * from './a.ts';`, './a.ts'],
    [`import './a.ts';`, './a.ts'],
    [`const a = await import('./a.ts');`, './a.ts'],
    [`import sql from './a.sql' with { type: 'text' };`, './a.sql'],
  ])('%s', (text, specifier) => {
    expect(importsOf({ path: 'src/x.ts', text })).toEqual([specifier]);
  });

  test('but not in comments', () => {
    expect(importsOf({ path: 'src/x.ts', text: `// import './a.ts';\n/* import './b.ts'; */` })).toEqual([]);
  });
});

describe('an import of an area above is refused', () => {
  test.each([
    ['machines/email/machine.ts', '../../src/engine/machine/kind.ts'],
    ['machines/email/machine.ts', 'node:crypto'],
    ['src/platform/db/open.ts', '../../engine/engine.ts'],
    ['src/mail/compose/compose.ts', '../../http/request/route.ts'],
    ['src/engine/runtime/mailbox.ts', '../../sending/emails/kind.ts'],
    ['src/http/request/mount.ts', '../../sending/emails/queries.ts'],
    ['src/accounts/members/routes.ts', '../../sending/emails/queries.ts'],
    ['src/sending/emails/routes.ts', '../../audience/contacts/queries.ts'],
    ['src/audience/contacts/routes.ts', '../../automation/campaigns/queries.ts'],
    ['src/automation/flows/routes.ts', '../../service.ts'],
    ['src/service.ts', './ops/commands/serving/serve.ts'],
    ['src/ops/commands/serving/serve.ts', '../../../main.ts'],
    ['src/service.ts', '../tests/support/client.ts'],
    ['src/web/client/call.ts', '../../platform/time/clock.ts'],
  ])('%s → %s', (path, specifier) => {
    expect(problems(path, `import { a } from '${specifier}';`)).toHaveLength(1);
  });

  test.each([
    ['machines/email/machine.ts', 'xstate'],
    ['machines/email/machine.ts', './progress.ts'],
    ['src/engine/runtime/mailbox.ts', '../../platform/db/database.ts'],
    ['src/http/request/route.ts', '../../platform/db/ids.ts'],
    ['src/sending/emails/kind.ts', '../../../machines/email/machine.ts'],
    ['src/sending/emails/kind.ts', './model.ts'],
    ['src/automation/flows/steps.ts', '../../sending/emails/accept.ts'],
    ['src/platform/db/migrations.ts', '../../../drizzle/0000_schema.sql'],
    [
      'src/platform/db/embedded/pglite-assets.ts',
      '../../../../node_modules/@electric-sql/pglite/dist/pglite.wasm',
    ],
    ['src/main.ts', './ops/commands/serving/serve.ts'],
    ['tests/unit/x.test.ts', '../../src/service.ts'],
  ])('but %s → %s goes down', (path, specifier) => {
    expect(problems(path, `import { a } from '${specifier}';`)).toEqual([]);
  });

  test.each(['commands', 'queries', 'accept', 'api'])('a module gives others its %s.ts', (name) => {
    const text = `import { a } from '../../sending/webhooks/${name}.ts';`;
    expect(problems('src/automation/flows/steps.ts', text)).toEqual([]);
  });

  test('and nothing else', () => {
    const text = "import { a } from '../webhooks/model.ts';";
    expect(problems('src/sending/emails/routes.ts', text)).toHaveLength(1);
  });

  test('a new folder of src has to be one of the areas', () => {
    expect(problems('src/somewhere/new.ts', '')).toHaveLength(1);
  });
});

describe('time comes from the injected clock', () => {
  test.each(['const at = Date.now();', 'const clock = { now: Date.now };', 'const at = new Date();'])(
    '%s is refused',
    (text) => {
      expect(problems('src/sending/emails/other.ts', text)).toHaveLength(1);
      expect(problems('src/ops/commands/other.ts', text)).toHaveLength(1);
      expect(problems('src/platform/time/clock.ts', text)).toEqual([]);
      expect(problems('tests/unit/x.test.ts', text)).toEqual([]);
    },
  );

  test.each(['const at = new Date(clock.now());', 'const at: Date = given;', '// Date.now() is forbidden'])(
    '%s is not',
    (text) => {
      expect(problems('src/sending/emails/other.ts', text)).toEqual([]);
    },
  );
});

describe('what one file does, no other does', () => {
  test.each([
    ['src/platform/config/environment.ts', 'const level = process.env.LOG_LEVEL;'],
    ['src/platform/config/environment.ts', 'const level = Bun.env.LOG_LEVEL;'],
    ['src/main.ts', 'process.exit(1);'],
    ['src/main.ts', 'process.exitCode = 1;'],
  ])('only %s: %s', (owner, text) => {
    expect(problems(owner, text)).toEqual([]);
    expect(problems('src/engine/other.ts', text)).toHaveLength(1);
    expect(problems('src/engine/other.ts', `// ${text}`)).toEqual([]);
  });

  test.each([
    `import { transition } from 'xstate';`,
    'const next = kind.machine.transition(snapshot, event);',
    'const actor = createActor(machine);',
  ])('a decision by XState is refused: %s', (text) => {
    expect(problems('src/engine/machine/decide.ts', text)).toHaveLength(1);
    expect(problems('tests/machines/x.test.ts', text)).toEqual([]);
    expect(problems('src/engine/machine/decide.ts', `// ${text}`)).toEqual([]);
  });

  test('tests and scripts may', () => {
    expect(problems('tests/run.ts', 'process.exit(Number(process.env.CODE));')).toEqual([]);
  });
});

describe('a test', () => {
  test.each([
    'await Bun.sleep(10);',
    'setTimeout(resolve, 10);',
    `import { setTimeout as wait } from 'node:timers/promises';`,
    'expect(performance.now() - start).toBeLessThan(1_000);',
    `test('slow', async () => {\n}, 30_000);`,
  ])('neither waits nor measures by the wall: %s', (text) => {
    expect(problems('tests/unit/x.test.ts', text)).toHaveLength(1);
    expect(problems('tests/unit/x.test.ts', `/* ${text} */`)).toEqual([]);
    for (const path of [
      'tests/bench/x.ts',
      'tests/support/eventually.ts',
      'src/engine/runtime/timers/scheduler.ts',
    ])
      expect(problems(path, text)).toEqual([]);
  });
});

describe('a literal that is spread in place', () => {
  test.each([
    'const a = { ...{ b: 1 }, c };',
    'const a = [...[1, 2], ...rest];',
    "const a = [...(['x', 'y'] as const)] as const;",
    'call(...([a, [b]] as const));',
    'const a = <Row {...{ a, b }} />;',
  ])('is refused: %s', (text) => {
    expect(problems('src/sending/emails/other.ts', text)).toHaveLength(1);
    expect(problems('tests/unit/x.test.ts', text)).toHaveLength(1);
  });

  test.each([
    'const a = { ...rest, ...(isB && { b }) };',
    'const a = [...[1, 2].map(twice)];',
    "const a = [...(['x', 'y'] as const).map(twice)];",
    'const a = <Row {...{ [NAME]: id }} />;',
    'function call(...[a, b]: Parameters<typeof other>) {}',
  ])('but not %s', (text) => {
    expect(problems('src/sending/emails/other.ts', text)).toEqual([]);
  });
});

describe('a comment', () => {
  const long = 'a word '.repeat(16);

  test.each([`// ${long}`, `/** ${long}*/`, ` * ${long}`])('ends at 110 columns: %s', (text) => {
    expect(problems('src/sending/emails/other.ts', text)).toHaveLength(1);
    expect(problems('src/sending/emails/other.ts', text.slice(0, 110))).toEqual([]);
  });

  test('of a tool may be longer', () => {
    expect(problems('src/sending/emails/other.ts', `// biome-ignore lint/a/b: ${long}`)).toEqual([]);
  });
});

describe('prose', () => {
  test.each([
    '/** Nobody answers here. */',
    '// A lane for whoever comes.',
    '  const row = null; // Made anew.',
    `test('is told of a change', () => {});`,
    `describe.each(CASES)('%s has a queue of its own', () => {});`,
    `test(\`keeps nobody waiting: \${name}\`, () => {});`,
  ])('names its subject: %s', (text) => {
    for (const path of ['tests/support/x.ts', 'src/engine/x.ts', 'machines/email/x.ts'])
      expect(problems(path, text)).toHaveLength(1);
    expect(problems('tests/fixtures/x.ts', text)).toEqual([]);
  });

  test('may name an address, a thing that belongs to its workspace, and a variable', () => {
    for (const text of [
      '// A mail to nobody@example.com.',
      '// A plan of its own workspace.',
      'const nobody = 1;',
      `expect(body.to).toBe('nobody');`,
    ])
      expect(problems('tests/support/x.ts', text)).toEqual([]);
  });
});

describe('a file', () => {
  test.each(['types.ts', 'utils.ts', 'helpers.ts', 'common.ts', 'index.ts', 'utils.test.ts'])(
    'is not called %s',
    (name) => {
      expect(problems(`src/platform/db/${name}`, '')).toHaveLength(1);
    },
  );

  test('has at most 400 lines', () => {
    expect(problems('tests/long.test.ts', '\n'.repeat(400))).toEqual([]);
    expect(problems('tests/long.test.ts', '\n'.repeat(401))).toHaveLength(1);
    expect(problems('src/engine/long.ts', '\n'.repeat(400))).toEqual([]);
    expect(problems('src/engine/long.ts', '\n'.repeat(401))).toHaveLength(1);
  });

  test('has at least 20 lines in the product, or a reason on the list', () => {
    const lines = (path: string, count: number) => problemsIn([{ path, text: '\n'.repeat(count) }]);
    expect(lines('src/engine/crumb.ts', 19)).toHaveLength(1);
    expect(lines('src/engine/crumb.ts', 20)).toEqual([]);
    expect(lines('src/platform/config/version.ts', 19)).toEqual([]);
    expect(lines('src/platform/config/version.ts', 20)).toHaveLength(1);
    expect(lines('src/accounts/usage/module.ts', 9)).toEqual([]);
    expect(lines('tests/unit/short.test.ts', 1)).toEqual([]);
  });

  test.each([
    '// Kept for a day (choices.md 4).',
    '/** See hazards.md. */',
    '// They would mislead (interface, Limits 5).',
    '// This list has no pages (the interface).',
  ])('does not cite a page that is not in the repository: %s', (comment) => {
    expect(problems('src/engine/x.ts', comment)).toHaveLength(1);
  });

  test.each(['// See docs/architecture.md.', '// The address (interface 2 of the host) is free.'])(
    'but may cite one that is: %s',
    (comment) => {
      expect(problems('src/engine/x.ts', comment)).toEqual([]);
    },
  );
});

describe('what a replica may answer', () => {
  const importing = `import type { Reads } from '../../platform/db/reads.ts';`;

  test('is read by lists, figures and exports that the rule names, and by nothing that decides', () => {
    expect(problems('src/sending/emails/queries.ts', importing)).toEqual([]);
    for (const path of ['src/sending/emails/accept.ts', 'src/automation/campaigns/guards.ts'])
      expect(problems(path, importing)).toEqual([expect.stringContaining('reads what a replica may answer')]);
  });
});

describe('a circle of files', () => {
  const file = (path: string, ...specifiers: string[]) => ({
    path,
    text: specifiers.map((specifier) => `import type { A } from '${specifier}';`).join('\n'),
  });

  test('is refused, types included, once for all its files', () => {
    const found = problemsOf([
      file('src/engine/a.ts', './b.ts'),
      file('src/engine/b.ts', './deep/c.ts', './d.ts'),
      file('src/engine/deep/c.ts', '../a.ts'),
      file('src/engine/d.ts'),
    ]);
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith('src/engine/a.ts, src/engine/b.ts, src/engine/deep/c.ts import one another');
  });

  test('is not two ways to one file', () => {
    const found = problemsOf([
      file('src/engine/a.ts', './b.ts', './c.ts'),
      file('src/engine/b.ts', './d.ts'),
      file('src/engine/c.ts', './d.ts'),
      file('src/engine/d.ts'),
    ]);
    expect(found).toEqual([]);
  });

  test.each([
    [{ a: ['a'] }, [['a']]],
    [
      { a: ['b'], b: ['a'], c: ['d', 'a'], d: ['c'] },
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [{ a: ['b'], b: ['c'], c: ['b', 'x'] }, [['b', 'c']]],
    [{ a: ['b', 'c'], b: ['c'], c: [] }, []],
  ])('is found in %j', (graph: Record<string, string[]>, circles) => {
    expect(circlesIn(new Map(Object.entries(graph)))).toEqual(circles);
  });
});

describe('a zone by another table than that of src/platform/zones is refused', () => {
  const says = (path: string, text: string) =>
    problems(path, text).filter((problem) => problem.includes('another table of zones')).length;
  test.each([
    "new Intl.DateTimeFormat('en', { timeZone: 'UTC' })",
    "Intl.supportedValuesOf('timeZone')",
    "at.toLocaleDateString('en')",
    'Temporal.Now.instant()',
    "day.toZonedDateTime('Europe/Vienna')",
    'instant.toZonedDateTimeISO(zone)',
    'new Date(at).getHours()',
    'date.getTimezoneOffset()',
    'date.setMonth(1)',
    'select (now() at time zone $1)::date',
  ])('%s', (code) => {
    expect([says('src/modules/x.ts', code), says('src/web/dashboard/web/x.ts', code)]).toEqual([1, 1]);
  });
  test.each([
    'new Date(at).getUTCHours()',
    "day.toZonedDateTime('UTC')",
    "select (now() at time zone 'UTC')::date",
    "(1_000).toLocaleString('en')",
  ])('but %s is not', (code) => {
    expect(says('src/modules/x.ts', code)).toBe(0);
  });
});

test.each(['interface Asked {', 'export type Found = string;', 'abstract class Held<T> {'])(
  'a type that is named by a participle is refused: %s',
  (text) => expect(problems('src/engine/x.ts', text)).toHaveLength(1),
);
test.each(['interface AskedRow {', 'const Asked = 1;', "import { type Asked } from './a.ts';"])(
  'a participle elsewhere is not refused: %s',
  (text) => expect(problems('src/engine/x.ts', text)).toEqual([]),
);

test('a room of the engine knows the rooms before it, and none after it', () => {
  const imports = (target: string) => `import { x } from '../${target}/x.ts';\nexport const y = x;`;
  const allowed = ['runtime/store', 'runtime/machine', 'store/machine', 'audit/runtime', 'machine/drawing'];
  for (const way of allowed) {
    const [from, to = ''] = way.split('/');
    expect(problems(`src/engine/${from}/y.ts`, imports(to))).toEqual([]);
  }
  for (const way of ['machine/store', 'machine/runtime', 'store/runtime']) {
    const [from, to = ''] = way.split('/');
    expect(problems(`src/engine/${from}/y.ts`, imports(to))).toHaveLength(1);
  }
});

test.each(['/** What it holds. */', '// Whether it is due.', '  /**\n   * Whose turn it is.\n   */'])(
  'a comment that does not begin with its subject is refused: %s',
  (text) => expect(problems('src/http/x.ts', text)).toHaveLength(1),
);
test.each(['/** The content. */', '// It is due\n// Where a limit holds.', "const x = 'What now';"])(
  'another comment is not refused: %s',
  (text) => expect(problems('src/http/x.ts', text)).toEqual([]),
);
