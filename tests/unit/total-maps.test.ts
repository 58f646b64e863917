import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** What is added to the email's machine: each text goes behind the one before it. */
const ADDITIONS = [
  [
    'machines/email.ts',
    'states: {',
    `paused: { on: { 'pause.requested': { actions: { type: 'archive' } } } },`,
  ],
  [
    'machines/email-context.ts',
    'export type EmailEvent =',
    `| { readonly type: 'pause.requested'; readonly at: number }`,
  ],
  ['machines/email-setup.ts', 'actions: {', 'archive: () => {},'],
] as const;

/** A copy of the sources, as they would be after the additions, in a folder of its own. */
function scratchCopy(additions: typeof ADDITIONS): string {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-total-maps-'));
  for (const part of ['machines', 'src', 'drizzle', 'package.json', 'tsconfig.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, behind, text] of additions) {
    const before = readFileSync(join(folder, path), 'utf8');
    expect(before.split(behind)).toHaveLength(2);
    writeFileSync(join(folder, path), before.replace(behind, `${behind} ${text}`));
  }
  writeFileSync(
    join(folder, 'tsconfig.scratch.json'),
    JSON.stringify({
      extends: './tsconfig.json',
      include: ['src', 'machines'],
      files: ['src/dashboard/web/state-color.ts'],
    }),
  );
  return folder;
}

function compile(folder: string): readonly string[] {
  const tsc = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.scratch.json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return tsc.stdout.split('\n').filter((line) => /^\S+\(\d+,\d+\): error/.test(line));
}

test('a state, an event and an effect that are added do not compile until every place has decided on them', () => {
  const folder = scratchCopy(ADDITIONS);
  try {
    const errors = compile(folder);
    const files = new Set(errors.map((line) => line.slice(0, line.indexOf('('))));
    expect([...files].toSorted()).toEqual([
      'src/audit/quotas.ts',
      'src/chaos/judge.ts',
      'src/dashboard/web/state-color.ts',
      'src/modules/contacts/erase-emails.ts',
      'src/modules/emails/audit/audit-recipients.ts',
      'src/modules/emails/explain/explanation-text.ts',
      'src/modules/emails/facts.ts',
      'src/modules/emails/read/page.ts',
      'src/modules/emails/retention/live-data-pruner.ts',
    ]);
    for (const name of ['paused', 'pause.requested', 'archive'])
      expect(errors.filter((line) => line.includes(name)).length).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
