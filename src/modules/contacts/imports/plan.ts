import type { Delimiter } from '../../../csv/delimiter.ts';
import type { DetectedEncoding, StoredEncoding } from '../../../csv/encoding.ts';
import type { Detail } from '../../../http/failure.ts';
import {
  cleaned,
  isPropertyKey,
  PROPERTY_TYPES,
  type PropertyType,
  type Target,
  targetByName,
} from '../column-names.ts';

/** How a file is read. Stored with its import. */
export interface ImportPlan {
  readonly encoding: DetectedEncoding['encoding'];
  readonly stored: StoredEncoding;
  readonly delimiter: Delimiter;
  /** A target for each column. */
  readonly targets: readonly Target[];
  /** The names of the columns, shortened for messages. */
  readonly headers: readonly string[];
}

/** What a client chose for an import, and what its file is like; stored with it, beside what SQL reads. */
export interface ImportSettings {
  readonly plan: ImportPlan;
  /** Bytes of the file as it is stored. */
  readonly bytes: number;
  readonly onConflict: 'upsert' | 'skip';
  readonly onError: 'continue' | 'abort';
  readonly dryRun: boolean;
}

/** What the header of a file begins with that `GET /v1/contacts/export` has written: its columns mean the same in return. */
const OWN_EXPORT = ['id', 'email', 'first_name', 'last_name', 'status', 'created_at', 'unsubscribed_at'];
const OWN_TARGETS: Readonly<Record<string, Target>> = {
  id: null,
  status: { to: 'status' },
  created_at: null,
  unsubscribed_at: null,
  properties: null,
};

const LONGEST_HEADER = 80;

/** The columns of a file, or every reason why it cannot be read. `mapping` is the `columns` of the request. */
export function readTargets(
  header: readonly string[],
  mapping: Readonly<Record<string, unknown>> | null,
): Pick<ImportPlan, 'targets' | 'headers'> | readonly Detail[] {
  const names = header.map(cleaned);
  const details: Detail[] = [];
  const stated = new Map(Object.entries(mapping ?? {}).map(([name, to]) => [cleaned(name), to]));
  for (const name of stated.keys())
    if (!names.includes(name)) details.push(columnsDetail(`The file has no column "${shortened(name)}".`));
  const isOwn = OWN_EXPORT.every((name, at) => names[at] === name);
  const targets = names.map((name, at) => {
    if (stated.has(name)) return statedTarget(name, stated.get(name), details);
    if (isOwn && Object.hasOwn(OWN_TARGETS, name)) return OWN_TARGETS[name] ?? null;
    return defaultTarget(name, at, details);
  });
  repeatedNames(names, details);
  repeatedTargets(targets, names, details);
  if (!targets.some((target) => target?.to === 'email') && details.length === 0)
    details.push({
      path: '/body',
      message: `The header has no column "email". It has ${names
        .slice(0, 10)
        .map((name) => `"${shortened(name)}"`)
        .join(', ')}; name the one with the addresses in columns.`,
    });
  return details.length > 0 ? details.slice(0, 20) : { targets, headers: names.map(shortened) };
}

const shortened = (name: string): string =>
  name.length > LONGEST_HEADER ? `${name.slice(0, LONGEST_HEADER - 1)}…` : name;
const columnsDetail = (message: string): Detail => ({ path: '/query/columns', message });

function defaultTarget(name: string, at: number, details: Detail[]): Target {
  const target = targetByName(name);
  if (target || name === '') return target;
  details.push({
    path: '/body',
    message: `Column ${at + 1}, "${shortened(name)}", cannot name a property: give it one in columns, or null to leave it out.`,
  });
  return null;
}

const STATED = /^properties\.([^:]+)(?::(\w+))?$/;

function statedTarget(name: string, to: unknown, details: Detail[]): Target {
  if (to === null) return null;
  if (to === 'email') return { to: 'email' };
  if (to === 'first_name' || to === 'firstName') return { to: 'firstName' };
  if (to === 'last_name' || to === 'lastName') return { to: 'lastName' };
  const [, key = '', type = 'string'] = STATED.exec(typeof to === 'string' ? to : '') ?? [];
  const isType = (text: string): text is PropertyType => (PROPERTY_TYPES as readonly string[]).includes(text);
  if (isPropertyKey(key) && isType(type)) return { to: 'property', key, type };
  details.push(
    columnsDetail(
      `Column "${shortened(name)}" must become email, first_name, last_name, properties.<key> with one of the types ${PROPERTY_TYPES.join(', ')} behind a colon, or null.`,
    ),
  );
  return null;
}

function repeatedNames(names: readonly string[], details: Detail[]): void {
  const seen = new Map<string, number>();
  for (const [at, name] of names.entries()) {
    const before = name === '' ? undefined : seen.get(name);
    if (before !== undefined)
      details.push({
        path: '/body',
        message: `Columns ${before + 1} and ${at + 1} have the same name, "${shortened(name)}".`,
      });
    seen.set(name, at);
  }
}

function repeatedTargets(targets: readonly Target[], names: readonly string[], details: Detail[]): void {
  const seen = new Map<string, string>();
  for (const [at, target] of targets.entries()) {
    if (!target) continue;
    const what = target.to === 'property' ? `properties.${target.key}` : target.to;
    const name = names[at] ?? '';
    const before = seen.get(what);
    if (before !== undefined && before !== name)
      details.push(
        columnsDetail(
          `Columns "${shortened(before)}" and "${shortened(name)}" would both become ${what}; leave one out with null.`,
        ),
      );
    seen.set(what, name);
  }
}
