import type { Delimiter } from '../../../csv/delimiter.ts';
import type { DetectedEncoding, StoredEncoding } from '../../../csv/encoding.ts';
import type { Detail } from '../../../http/failure.ts';
import { isPropertyKey } from '../properties.ts';

/** The types that the cells of a property may have. */
export const PROPERTY_TYPES = ['string', 'number', 'boolean', 'date'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** What the cells of a column become; null leaves them out. */
export type Target =
  | { readonly to: 'email' | 'firstName' | 'lastName' | 'status' }
  | { readonly to: 'property'; readonly key: string; readonly type: PropertyType }
  | null;

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

/** Names by which columns are recognised, without case, spaces and punctuation. */
const KNOWN: Readonly<Record<string, 'email' | 'firstName' | 'lastName'>> = {
  email: 'email',
  mail: 'email',
  emailaddress: 'email',
  mailadresse: 'email',
  emailadresse: 'email',
  firstname: 'firstName',
  givenname: 'firstName',
  forename: 'firstName',
  vorname: 'firstName',
  lastname: 'lastName',
  surname: 'lastName',
  familyname: 'lastName',
  nachname: 'lastName',
};

const LONGEST_HEADER = 80;

/** A name without what nobody sees: no-break spaces, zero-width characters, spaces around it. */
const cleaned = (header: string): string =>
  header
    .normalize('NFC')
    .replaceAll('\u00a0', ' ')
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
    .trim();

const folded = (header: string): string => header.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** `Größe (cm)` → `Grosse_cm`: a name that a property may have; null when nothing is left of it. */
function keyFrom(header: string): string | null {
  const plain = header.replaceAll('ß', 'ss').normalize('NFD').replace(/\p{M}/gu, '');
  const key = plain.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return isPropertyKey(key) ? key : null;
}

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
  const known = KNOWN[folded(name)];
  if (known) return { to: known };
  if (name === '') return null;
  const key = keyFrom(name.startsWith('properties.') ? name.slice('properties.'.length) : name);
  if (key !== null) return { to: 'property', key, type: 'string' };
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
