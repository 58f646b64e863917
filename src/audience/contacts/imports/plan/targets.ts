import { addressColumns, machineColumns } from '../../../../mail/list-files/address-columns.ts';
import {
  type ConsentColumn,
  consentColumnOf,
  everyoneByFilename,
  everyoneByHeaders,
  isAboutSomethingElse,
  isOfTelephone,
  isOptOutList,
  STATUS_READINGS,
  type StatusReading,
} from '../../../../mail/list-files/consent-columns.ts';
import {
  isBlank,
  isLeavingWord,
  isListWord,
  type LeaveReason,
  wordMeaning,
} from '../../../../mail/list-files/consent-words.ts';
import type { Delimiter } from '../../../../platform/csv/delimiter.ts';
import type { Detail } from '../../../../platform/errors/failure.ts';
import {
  CONTACT_FIELD_NAMES,
  CONTACT_FIELDS,
  type ContactFieldName,
  eachField,
  isContactField,
} from '../../../../platform/text/contact-fields.ts';
import {
  type CellFormat,
  cleaned,
  fieldByHeader,
  fieldOfName,
  PROPERTY_TYPES,
  type PropertyTarget,
  propertyByName,
  propertyOf,
  type Target,
} from '../../column-names.ts';
import { FIELD_COLUMNS } from '../../field-columns.ts';
import { doubtOfConsent, shortened } from './doubt.ts';
import type { ColumnSurvey } from './survey.ts';

/** The known facts of a file besides its header. */
export interface FileTraits {
  readonly delimiter: Delimiter;
  /** The name that it had, as the request states it. */
  readonly filename?: string | undefined;
  /** The common properties of the cells of each column. */
  readonly surveys: readonly ColumnSurvey[];
  /** The types that properties have in the contacts that are there. */
  readonly typesThere?: ReadonlyMap<string, 'number' | 'boolean'>;
}

/** The `columns` of a request. */
export type ColumnMapping = Readonly<Record<string, unknown>> | null;

const BY_COLUMN: Readonly<Record<string, Target>> = Object.fromEntries(
  CONTACT_FIELD_NAMES.map((name) => [CONTACT_FIELDS[name].column, { to: name }]),
);

/**
 * The columns by which a file of `GET /v1/contacts/export` is recognised: they mean the same on the way back.
 * A field that is added does not belong here, since the files of former versions lack its column.
 */
const OWN_EXPORT = ['id', 'email', 'first_name', 'last_name', 'status', 'created_at', 'unsubscribed_at'];
const OWN_TARGETS: Readonly<Record<string, Target>> = {
  ...BY_COLUMN,
  id: null,
  created_at: null,
  status: { to: 'status', reads: 'status' },
  unsubscribed_at: { to: 'unsubscribedAt' },
  consent_source: { to: 'consentSource' },
  consent_at: { to: 'consentAt' },
  audiences: { to: 'audiences' },
  left_audiences: null,
  properties: { to: 'properties' },
};

/** The targets that `columns` may name besides properties. */
const STATED: Readonly<Record<string, Target>> = {
  email: { to: 'email' },
  ...BY_COLUMN,
  ...eachField((name): Target => ({ to: name })),
  unsubscribed_at: { to: 'unsubscribedAt' },
  unsubscribedAt: { to: 'unsubscribedAt' },
  'consent.source': { to: 'consentSource' },
  'consent.at': { to: 'consentAt' },
  audiences: { to: 'audiences' },
  properties: { to: 'properties' },
};

/** Targets as `columns` writes them, for the documentation and for what is answered. */
export const TARGET_NAMES = [
  'email',
  ...FIELD_COLUMNS,
  ...STATUS_READINGS,
  'unsubscribedAt',
  'consent.source',
  'consent.at',
  'audiences',
] as const;

interface NamedTargets {
  readonly targets: readonly Target[];
  readonly everyone: LeaveReason | 'never' | null;
  /** True for what our own export has written. */
  readonly isOwn: boolean;
  readonly details: readonly Detail[];
}

/** The target of each column, by `columns`, its name and its cells. */
export function namedTargets(
  names: readonly string[],
  mapping: ColumnMapping,
  traits: FileTraits,
): NamedTargets {
  const details: Detail[] = [];
  const stated = new Map(Object.entries(mapping ?? {}).map(([name, to]) => [cleaned(name), to]));
  for (const name of stated.keys())
    if (!names.includes(name)) details.push(columnsDetail(`The file has no column "${shortened(name)}".`));
  const isOwn = OWN_EXPORT.every((name) => names.includes(name));
  const isStated = [...stated.values()].includes('email');
  const addresses = isStated ? [] : addressColumns(names.map((name) => (stated.has(name) ? '' : name)));
  const isOptOuts = isOptOutList(names);
  const machine = machineColumns(names);
  const fields = new Set(
    names.map((name) => (stated.has(name) ? fieldStated(stated.get(name)) : fieldByHeader(name))),
  );
  const taken = new Set<string>();
  const keys = new Set<string>();
  /**
   * The consent in the cells of one column makes consent of all with its name: a leaving in any of them
   * counts.
   */
  const consentOf = (name: string, at: number): Exclude<Target, null> | null => {
    const places = name === '' ? [at] : names.flatMap((other, place) => (other === name ? [place] : []));
    const all = places.map((place) => traits.surveys[place]);
    const consent = all.map((survey) => consentTarget(name, survey)).find((target) => target !== null);
    if (consent === BY_VALUES && all.some((survey) => survey?.values === null))
      details.push(
        columnsDetail(
          `${sharedName(name, places)}. One of them says who may be written to, and the other does not: give them different names, or say in columns what both become.`,
        ),
      );
    return consent ?? null;
  };
  const byName = (name: string, at: number): Target => {
    if (isOwn && Object.hasOwn(OWN_TARGETS, name)) return OWN_TARGETS[name] ?? null;
    const typed = propertyOf(name);
    if (typed) return name.includes(':') ? typed : keptType(typed, traits);
    if (addresses.includes(at)) return { to: 'email' };
    if (machine.has(name)) return null;
    const field = fieldByHeader(name);
    if (field) return { to: field };
    const named = fieldOfName(name, fields);
    // A whole name beside a part of it is no other part.
    if (named && !((traits.surveys[at]?.wholeNames ?? 0) > 0)) {
      fields.add('firstName').add('lastName');
      return { to: named };
    }
    const consent = consentOf(name, at);
    // A second column of the same keeps its cells as a property.
    // In a list of opt-outs the newsletter is what was left.
    if (isOptOuts && consent?.to === 'status' && consent.reads === 'subscribed')
      return { to: 'status', reads: 'unsubscribed' };
    if (consent && (!ONCE.has(consent.to) || !taken.has(consent.to))) {
      taken.add(consent.to);
      return consent;
    }
    if (isOptOuts && name !== '') return { to: 'status', reads: 'unsubscribed' };
    const property = propertyByName(name, keys);
    if (property) {
      keys.add(property.key);
      const doubt = propertyOf(name) ? null : doubtOfConsent(name, property.key, traits.surveys[at]);
      if (doubt !== null) details.push(doubt);
      return keptType(property, traits);
    }
    if (name !== '')
      details.push({
        path: '/body',
        message: `Column ${at + 1}, "${shortened(name)}", cannot name a property: give it one in columns, or null to leave it out.`,
      });
    return null;
  };
  const known = new Map<string, Target>();
  const targetOf = (name: string, at: number): Target =>
    stated.has(name) ? statedTarget(name, stated.get(name), details) : byName(name, at);
  const targets = names.map((name, at) => {
    const target = known.has(name) && name !== '' ? (known.get(name) ?? null) : targetOf(name, at);
    known.set(name, target);
    return withFormat(target, { name, survey: traits.surveys[at], delimiter: traits.delimiter }, details);
  });
  const everyone = everyoneByHeaders(names) ?? everyoneByFilename(traits.filename ?? '');
  return { targets, everyone: isOwn ? null : everyone, isOwn, details };
}

/** `Columns 2 and 3 are both called "Group"`: the beginning of a message about them. */
export const sharedName = (name: string, [first = 0, second = 0]: readonly number[]): string =>
  `Columns ${first + 1} and ${second + 1} are both called "${shortened(name)}"`;

const ONCE: ReadonlySet<string> = new Set(['consentSource']);

/** The field that `columns` gives to a column; null where it gives another target. */
const fieldStated = (to: unknown): ContactFieldName | null => {
  const target = typeof to === 'string' && Object.hasOwn(STATED, to) ? STATED[to]?.to : undefined;
  return target !== undefined && isContactField(target) ? target : null;
};

const columnsDetail = (message: string): Detail => ({ path: '/query/columns', message });

/** A column of consent by its name, or by values that are nothing else. */
function consentTarget(name: string, survey: ColumnSurvey | undefined): Exclude<Target, null> | null {
  const column = consentColumnOf(name);
  if (column && column.to !== 'status') return column;
  if (column && (!column.weak || !survey || isProven(column, survey))) return statusTarget(column);
  if (isOfTelephone(name)) return null;
  return survey && statesStatus(name, [...(survey.values?.keys() ?? [])]) ? BY_VALUES : null;
}

/** True where the cells of a column say that it is about consent, since its name alone does not. */
const isProven = (
  { reads }: Extract<ConsentColumn, { to: 'status' }>,
  { understood, takes, isFigures }: ColumnSurvey,
): boolean => (reads === 'subscribed' ? understood > 0 : takes.size > 0 && !isFigures);

/** A column that only its values make one of consent. */
export const BY_VALUES = { to: 'status', reads: 'status', cells: 'words' } as const;

/**
 * True for the values of a column without a telling name that are statuses and nothing else: words that stand
 * in the table as they are, one of them a word of lists. `confirmed` and `cancelled` alone may be of an
 * order, and a payment may have bounced.
 */
function statesStatus(name: string, values: readonly string[]): boolean {
  const stated = values.filter((value) => !isBlank(value));
  const meanings = stated.map(wordMeaning);
  return (
    meanings.every((meaning) => meaning !== null && meaning !== 'yes' && meaning !== 'no') &&
    stated.some(isAboutSomethingElse(name) ? isListWord : isLeavingWord)
  );
}

const statusTarget = ({ reads, cells }: Extract<ConsentColumn, { to: 'status' }>): Target & object => ({
  to: 'status',
  reads,
  ...(cells && { cells }),
});

/** A column without a type has that of the existing contacts. */
function keptType(target: PropertyTarget, { typesThere }: FileTraits): PropertyTarget {
  const type = target.type === 'string' ? typesThere?.get(target.key) : undefined;
  return type ? { ...target, type } : target;
}

const isReading = (text: unknown): text is StatusReading =>
  (STATUS_READINGS as readonly unknown[]).includes(text);

function statedTarget(name: string, to: unknown, details: Detail[]): Target {
  if (to === null) return null;
  if (isReading(to)) {
    const column = consentColumnOf(name);
    const isKnown = column?.to === 'status' && !column.weak && (to === 'status' || to === column.reads);
    // A column that is known is read as its name says, whatever word it is given by.
    return isKnown ? statusTarget(column) : { to: 'status', reads: to };
  }
  const target =
    typeof to === 'string' && (Object.hasOwn(STATED, to) ? (STATED[to] ?? null) : propertyOf(to));
  if (target) return target;
  details.push(
    columnsDetail(
      `Column "${shortened(name)}" must become one of ${TARGET_NAMES.join(', ')}, properties.<key> with one of the types ${PROPERTY_TYPES.join(', ')} behind a colon, or null.`,
    ),
  );
  return null;
}

interface ColumnSample {
  readonly name: string;
  readonly survey: ColumnSurvey | undefined;
  readonly delimiter: FileTraits['delimiter'];
}

/** A column of numbers or dates, with the form in which the column as a whole shows that they are written. */
function withFormat(target: Target, { name, survey, delimiter }: ColumnSample, details: Detail[]): Target {
  if (target?.to !== 'property' || target.format || !survey) return target;
  const only = <Form extends CellFormat>(shown: ReadonlySet<unknown>, one: Form, other: Form) =>
    shown.has(one) === shown.has(other) ? null : shown.has(one) ? one : other;
  if (target.type === 'number') {
    const shown = only(survey.numbers, 'point', 'comma');
    if (shown) return { ...target, format: shown };
    // A list separated by commas comes from where decimals have a point.
    const isOpen =
      survey.numbers.has('eitherComma') || (delimiter === ';' && survey.numbers.has('eitherPoint'));
    if (isOpen && !survey.numbers.has('point')) details.push(openForm(name, target, 'numbers such as 1.234'));
  }
  if (target.type === 'date') {
    const shown = only(survey.dates, 'dmy', 'mdy');
    if (shown) return { ...target, format: shown };
    if (survey.dates.has('either') && !survey.dates.has('dmy'))
      details.push(openForm(name, target, 'dates such as 2/1/2026'));
  }
  return target;
}

const openForm = (name: string, { key, type }: PropertyTarget, what: string): Detail =>
  columnsDetail(
    type === 'date'
      ? `Column "${shortened(name)}" has ${what} that may be two days. Say whether the day comes first (properties.${key}:date:dmy) or the month (properties.${key}:date:mdy).`
      : `Column "${shortened(name)}" has ${what} that may be two numbers. Say whether decimals have a point (properties.${key}:number:point) or a comma (properties.${key}:number:comma).`,
  );

/** A target as `columns` writes it; null for a column that is left out. */
export function targetText(target: Target): string | null {
  if (target === null) return null;
  if (isContactField(target.to)) return CONTACT_FIELDS[target.to].column;
  switch (target.to) {
    case 'property':
      return `properties.${target.key}:${target.type}${target.format ? `:${target.format}` : ''}`;
    case 'status':
      return target.reads ?? 'status';
    case 'consentSource':
      return 'consent.source';
    case 'consentAt':
      return 'consent.at';
    case 'email':
    case 'unsubscribedAt':
    case 'audiences':
    case 'properties':
      return target.to;
  }
}
