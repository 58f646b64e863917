import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/** A text of one file, and the text that goes behind it. */
type Addition = readonly [path: string, behind: string, text: string];

const STATE: readonly Addition[] = [
  [
    'machines/email/machine.ts',
    'states: {',
    `paused: { on: { 'pause.requested': { actions: { type: 'archive' } } } },`,
  ],
  [
    'machines/email/context.ts',
    'export type EmailEvent =',
    `| { readonly type: 'pause.requested'; readonly at: number }`,
  ],
  ['machines/email/setup.ts', 'actions: {', 'archive: () => {},'],
];

const TRANSPORT: readonly Addition[] = [
  ['src/platform/config/transport-names.ts', 'export const TRANSPORTS = [', `'postmark',`],
];

const EVENT: readonly Addition[] = [
  ['machines/email/recipient.ts', 'export const EMAIL_EVENT_TYPES = [', `'snoozed',`],
];

const FIELD: readonly Addition[] = [
  [
    'src/platform/text/contact-fields.ts',
    'export const CONTACT_FIELDS = {',
    `middleName: { column: 'middle_name', label: 'Middle name', isPartOfName: true, example: 'King', headers: 'middleinitial' },`,
  ],
];

const BODIES: readonly Addition[] = [
  [
    'src/platform/bodies/body-key.ts',
    'export const BODY_KINDS = {',
    `logo: { isDated: false, isShared: false },`,
  ],
];

/** A copy of the sources, as they would be after the additions, in a separate folder. */
function scratchCopy(additions: readonly Addition[]): string {
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
      files: [
        'src/web/dashboard/web/application/ui/machine/state-color.ts',
        'src/web/dashboard/web/application/ui/display/event-looks.ts',
      ],
    }),
  );
  return folder;
}

/**
 * Four threads check four times what they share: 14 s of processor time instead of 8, where other tests have
 * the cores.
 */
const COMMAND = ['-p', 'tsconfig.scratch.json', '--singleThreaded'];

function compile(folder: string): readonly string[] {
  const tsc = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), COMMAND, { cwd: folder, encoding: 'utf8' });
  return tsc.stdout.split('\n').filter((line) => /^\S+\(\d+,\d+\): error/.test(line));
}

const folder = scratchCopy([...STATE, ...TRANSPORT, ...EVENT, ...FIELD, ...BODIES]);
let errors: readonly string[] = [];
beforeAll(() => {
  errors = compile(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The files whose errors name one of these words. */
const placesOf = (...words: readonly string[]): readonly string[] => {
  const named = errors.filter((line) => words.some((word) => line.includes(word)));
  return [...new Set(named.map((line) => line.slice(0, line.indexOf('('))))].toSorted();
};

describe('an addition does not compile until every place has decided on it', () => {
  test('a state, an event and an effect of the email', () => {
    expect(placesOf('paused', 'pause.requested', 'archive')).toEqual([
      'src/audience/contacts/forgetting/erase-emails.ts',
      'src/engine/audit/quotas.ts',
      'src/ops/torture/judge/judge.ts',
      'src/sending/emails/audit/audit-recipients.ts',
      'src/sending/emails/explain/explanation-text.ts',
      'src/sending/emails/facts.ts',
      'src/sending/emails/read/page.ts',
      'src/sending/emails/retention/live-data-pruner.ts',
      'src/web/dashboard/web/application/ui/machine/state-color.ts',
    ]);
    for (const name of ['paused', 'pause.requested', 'archive']) expect(placesOf(name)).not.toBeEmpty();
  });

  test('a type of event: its traits, its columns, its form in the API, its words and its look', () => {
    expect(placesOf('snoozed')).toEqual([
      'machines/email/event-traits.ts',
      'src/audience/contacts/activity/activity.ts',
      'src/automation/campaigns/queries.ts',
      'src/sending/analytics/counting.ts',
      'src/sending/analytics/model.ts',
      'src/sending/emails/read/event-model.ts',
      'src/web/dashboard/web/application/ui/display/event-looks.ts',
    ]);
  });

  test('a transport: its traits, its settings and the object that sends', () => {
    expect(placesOf('postmark')).toEqual([
      'src/mail/transport/traits.ts',
      'src/mail/transport/transports.ts',
      'src/platform/config/config.ts',
    ]);
  });

  test('a field of contacts: the index by which it is searched', () => {
    expect(placesOf('middleName')).toEqual(['src/platform/db/schema/contacts.ts']);
  });

  test('a kind of rows with bodies outside the database: the collector, the audit, the doctor, backups and restores', () => {
    expect(placesOf('logo')).toEqual(['src/modules.ts']);
  });

  test('and the compiler names no other error', () => {
    const words = ['paused', 'pause.requested', 'archive', 'postmark', 'snoozed', 'middleName', 'logo'];
    expect(errors.filter((line) => !words.some((word) => line.includes(word)))).toEqual([]);
  });
});
