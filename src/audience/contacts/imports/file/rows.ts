import { addressesOfCell } from '../../../../mail/list-files/address-columns.ts';
import { untilNextTurn } from '../../../../platform/async/batcher.ts';
import type { Signer } from '../../../../platform/crypto/signer.ts';
import type { CsvRow } from '../../../../platform/csv/reader.ts';
import { withoutGuard } from '../../../../platform/csv/write.ts';
import { mintId } from '../../../../platform/db/ids.ts';
import { firstCharacters, isLonger } from '../../../../platform/errors/text-length.ts';
import { type Address, isProblem, parseAddress } from '../../../../platform/text/address.ts';
import { type ContactFieldName, isContactField } from '../../../../platform/text/contact-fields.ts';
import { forgottenKey } from '../../../../sending/suppressions/queries.ts';
import { isPropertyKey, type Target } from '../../column-names.ts';
import { fieldInput } from '../../field-columns.ts';
import { LONGEST_NAME } from '../../model.ts';
import { MOST_PROPERTIES, type PropertyValue, problemOfProperty } from '../../properties.ts';
import { later, leavingOf, mergedInto } from '../../read-contact.ts';
import type { ContactInput } from '../../write.ts';
import type { ImportPlan } from '../plan/plan.ts';
import { audienceNames } from '../plan/survey.ts';
import { typedValue } from './cells.ts';
import { ConsentOfRow, cellStatus, momentText } from './consent-of-row.ts';
import type { Fault, FaultCode } from './faults.ts';

/** A contact of a row, and how many later rows of the same address were merged into it. */
export type ImportedContact = ContactInput & {
  readonly repeats: number;
  /** The audiences that it joins, each with the entry in its activity; null without one. */
  readonly joins: readonly Join[] | null;
};

/** An audience that a contact joins, and the entry that tells of it. */
export interface Join {
  readonly audience_id: string;
  readonly join_id: string;
}

/** Rows that are worked through together: what the event of the machine carries. */
export interface RowBatch {
  readonly total: number;
  readonly refused: number;
  /** Rows whose address came before in the same batch, where the first one stays (`onConflict=skip`). */
  readonly skipped: number;
  readonly contacts: readonly ImportedContact[];
  readonly faults: readonly Fault[];
}

/** The data that reading rows needs. */
export interface RowReading {
  readonly plan: ImportPlan;
  readonly signer: Signer;
  readonly workspaceId: string;
  /** True when the hashes of forgotten addresses matter: they are live ones, and cost 4 µs a row. */
  readonly hashes: boolean;
  /** True when an address that comes again is merged, and not skipped. */
  readonly merges: boolean;
  /** The audience that all of them join; null without one. */
  readonly audienceId: string | null;
  /** The id of an audience that contacts can join, by its id or its name; undefined when there is none. */
  readonly audienceOf: (name: string) => string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Rows that are read at one go, in some five milliseconds: then requests have their turn. */
const AT_ONE_GO = 500;

/** Reads the rows of one batch. An address is in it once: a statement takes it once. */
export async function readRows(rows: readonly CsvRow[], reading: RowReading): Promise<RowBatch> {
  const byKey = new Map<string, ImportedContact>();
  const faults: Fault[] = [];
  let refused = 0;
  let skipped = 0;
  let further = 0;
  for (const [at, cells] of rows.entries()) {
    if (at % AT_ONE_GO === AT_ONE_GO - 1) await untilNextTurn();
    const before = faults.length;
    const [contact, ...others] = readRow(cells, reading, faults);
    const isRefused = faults.length > before;
    if (isRefused) refused++;
    if (!contact) continue;
    // Each address of a cell is one that gets no more mail.
    for (const other of others) takeLeaving(byKey, { ...other, ord: -++further });
    // The leaving counts, whatever else of the row is wrong.
    if (isRefused) {
      takeLeaving(byKey, contact);
      continue;
    }
    const { names, ...row } = contact;
    const former = byKey.get(row.email_key);
    const known = former?.is_refused ? undefined : former;
    const joins = joinsOf(names, known?.joins ?? null, reading);
    if (!known)
      byKey.set(row.email_key, { ...row, ...(former && leavingOf(former, row)), repeats: 0, joins });
    else if (!reading.merges) {
      // The values of the first row stay, except that a later row may unsubscribe the person.
      byKey.set(row.email_key, { ...known, ...leavingOf(known, row), joins });
      skipped++;
    } else {
      const merged = mergedInto(known, row);
      if (Object.keys(merged.properties).length > MOST_PROPERTIES) {
        faults.push([row.ord, null, 'too_many_properties']);
        byKey.set(row.email_key, { ...known, ...leavingOf(known, row) });
        refused++;
      } else byKey.set(row.email_key, { ...merged, repeats: known.repeats + 1, joins });
    }
  }
  return { total: rows.length, refused, skipped, contacts: [...byKey.values()], faults };
}

/** Takes the leaving of a person, if their row tells of one, and nothing else of it. */
function takeLeaving(byKey: Map<string, ImportedContact>, { names: _, ...row }: RowContact): void {
  if (row.leaves === null) return;
  const former = byKey.get(row.email_key);
  byKey.set(row.email_key, former ? { ...former, ...leavingOf(former, row) } : leavingAlone(row));
}

/** A row of which the leaving counts and nothing else. */
const leavingAlone = (row: ContactInput): ImportedContact => ({
  ...row,
  ...fieldInput({}),
  properties: {},
  consent: null,
  is_refused: true,
  repeats: 0,
  joins: null,
});

/** The audiences that a contact joins, each once. */
function joinsOf(
  names: readonly string[],
  known: readonly Join[] | null,
  { audienceId, audienceOf, now }: RowReading,
): readonly Join[] | null {
  const ids = new Set(names.flatMap((name) => audienceOf(name) ?? []));
  if (audienceId !== null) ids.add(audienceId);
  for (const { audience_id } of known ?? []) ids.delete(audience_id);
  const joins = [...ids].map((audience_id) => ({ audience_id, join_id: mintId('act', now) }));
  return known || joins.length > 0 ? [...(known ?? []), ...joins] : null;
}

/** A contact as its row says it, and the audiences that the row names. */
type RowContact = ContactInput & { readonly names: readonly string[] };

/**
 * The contacts of a row, one for each address. The first is the one that is imported; where its address is
 * wrong, the row is refused.
 */
function readRow(
  { line, cells, fault }: CsvRow,
  { plan, signer, workspaceId, hashes, now }: RowReading,
  faults: Fault[],
): readonly RowContact[] {
  if (fault) {
    faults.push([fault.line, fault.column, fault.code]);
    return [];
  }
  const { targets, everyone = null } = plan;
  if (cells.slice(targets.length).some((cell) => cell.trim() !== ''))
    faults.push([line, null, 'wrong_cell_count']);
  let emails: readonly string[] = [''];
  let emailColumn = 0;
  const texts: { -readonly [Name in ContactFieldName]?: string } = {};
  let source: string | null = null;
  let agreedAt: string | null = null;
  let names: readonly string[] = [];
  const consent = new ConsentOfRow(everyone);
  const properties: Record<string, PropertyValue> = {};
  const refuse = (column: number, code: FaultCode): void => {
    faults.push([lineOf(line, cells, column), column + 1, code]);
  };
  for (let column = 0; column < targets.length; column++) {
    const target = targets[column] as Target;
    // Spreadsheets leave out empty last cells.
    const cell = cells[column] ?? '';
    if (target === null) continue;
    if (target.to === 'email') {
      emails = addressesOfCell(cell);
      emailColumn = column;
      continue;
    }
    if (target.to === 'status') {
      const status = cellStatus(cell, target);
      if (status === 'unknown') refuse(column, 'unknown_status');
      else consent.take(status);
      continue;
    }
    // An empty cell says nothing of the person: what is known stays.
    if (cell === '') continue;
    if (cell.includes('\0')) {
      refuse(column, 'invalid_character');
      continue;
    }
    if (isContactField(target.to)) {
      const text = withoutGuard(cell);
      if (isLonger(text, LONGEST_NAME)) refuse(column, 'text_too_long');
      else texts[target.to] ??= text;
      continue;
    }
    switch (target.to) {
      case 'property': {
        // Of columns with one name, the first that is not empty counts.
        if (Object.hasOwn(properties, target.key) || (target.type !== 'string' && cell.trim() === '')) break;
        const value = typedValue(cell, target);
        if (typeof value === 'object') refuse(column, value.code);
        else properties[target.key] = value;
        break;
      }
      case 'unsubscribedAt':
        consent.takeTime(cell);
        break;
      case 'consentAt':
        agreedAt = later(agreedAt, momentText(withoutGuard(cell).trim()));
        break;
      case 'consentSource':
        source ??= firstCharacters(withoutGuard(cell).trim(), LONGEST_NAME) || null;
        break;
      case 'audiences':
        names = [...names, ...audienceNames(cell)];
        break;
      case 'properties':
        if (!takeProperties(cell, properties)) refuse(column, 'invalid_properties');
    }
  }
  const [email = '', ...others] = emails;
  const address = parseAddress(email);
  if (email === '') refuse(emailColumn, 'missing_email');
  else if (isProblem(address)) refuse(emailColumn, 'invalid_email');
  const before = isProblem(address) || texts.firstName || texts.lastName ? null : address.name;
  if (before !== null && isLonger(before, LONGEST_NAME)) refuse(emailColumn, 'text_too_long');
  if (Object.keys(properties).length > MOST_PROPERTIES) faults.push([line, null, 'too_many_properties']);
  const contactOf = (read: Address): RowContact => ({
    ord: line,
    id: mintId('con', now),
    email: read.address,
    email_key: read.key,
    email_hash: hashes ? forgottenKey(signer, workspaceId, read.key) : '',
    ...fieldInput(before === null ? texts : { firstName: before }),
    ...(before !== null && { fills_name: true }),
    properties,
    removed: [],
    ...consent.says,
    consent: source !== null || agreedAt !== null ? { source, at: agreedAt } : null,
    names,
  });
  return [address, ...others.map(parseAddress)].flatMap((read) => (isProblem(read) ? [] : [contactOf(read)]));
}

/** Adds the properties that our own export writes as one JSON object; false where the text is none. */
function takeProperties(cell: string, properties: Record<string, PropertyValue>): boolean {
  let read: unknown;
  try {
    read = JSON.parse(withoutGuard(cell));
  } catch {}
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return false;
  for (const [key, value] of Object.entries(read)) {
    if (!isPropertyKey(key) || value === null || problemOfProperty(value) !== null) return false;
    properties[key] = value as PropertyValue;
  }
  return true;
}

/** The physical line of a cell: cells before it may have line breaks. */
function lineOf(line: number, cells: readonly string[], column: number): number {
  let own = line;
  for (const cell of cells.slice(0, column)) own += cell.match(/\r\n|\r|\n/g)?.length ?? 0;
  return own;
}
