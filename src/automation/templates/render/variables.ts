import { isDateTime } from '../../../http/request/schema.ts';
import { LIQUID_LIMITS } from '../../../mail/liquid/limits.ts';
import { ownOf } from '../../../platform/text/own-member.ts';
import type { Report } from '../../../platform/text/problems.ts';
import { type DeclaredVariable, SERVICE_NAMES, type VariableView } from '../model.ts';

type Type = VariableView['type'];

interface Rule {
  readonly form: string;
  fits(value: unknown): boolean;
}

const RULES: Readonly<Record<Type, Rule>> = {
  string: { form: 'a string', fits: (value) => typeof value === 'string' },
  number: { form: 'a number', fits: (value) => typeof value === 'number' },
  boolean: { form: 'true or false', fits: (value) => typeof value === 'boolean' },
  date: {
    form: 'a day such as 2026-01-31, or a moment such as 2026-01-31T09:30:00Z',
    fits: (value) => typeof value === 'string' && (isDateTime(value) || isDateTime(`${value}T00:00:00Z`)),
  },
  list: { form: 'a list', fits: Array.isArray },
  object: {
    form: 'an object',
    fits: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
};

/** Why a value does not fit a type, as a sentence; null when it does. */
export const problemOfValue = (type: Type, value: unknown): string | null =>
  RULES[type].fits(value) ? null : `Must be ${RULES[type].form}.`;

const FILLED_IN = 'Must have another name: this one is filled in by the service.';
const REPEATED = 'Must be declared once.';
const NEEDLESS = 'Must be left out of a required variable, which always has a value.';
const REQUIRED = 'Must be given: the template requires it.';
const TOO_LARGE = 'Must be at most 256 KiB as JSON, all together.';

/** Reads the variables that a template declares. */
export function readDeclared(given: readonly DeclaredVariable[], at: string, report: Report): VariableView[] {
  const seen = new Set<string>();
  return given.map(({ key, type = 'string', required = false, fallback = null }, index) => {
    const path = `${at}/${index}`;
    if (SERVICE_NAMES.includes(key)) report(`${path}/key`, FILLED_IN);
    if (seen.has(key)) report(`${path}/key`, REPEATED);
    seen.add(key);
    const problem = fallback === null ? null : problemOfValue(type, fallback);
    if (problem !== null) report(`${path}/fallback`, problem);
    else if (required && fallback !== null) report(`${path}/fallback`, NEEDLESS);
    return { key, type, required, fallback };
  });
}

/** The rules by which the values of a request are read. */
export interface ValueRules {
  /** The JSON pointer of the values. */
  readonly at: string;
  /** True when a required variable may be missing: a preview shows what there is. */
  readonly mayLack: boolean;
}

/** The values of a rendering: those given, then fallbacks. A given null counts as none. */
export function readValues(
  declared: readonly VariableView[],
  given: Readonly<Record<string, unknown>>,
  { at, mayLack }: ValueRules,
  report: Report,
): Record<string, unknown> {
  const values: Record<string, unknown> = { ...given };
  for (const name of Object.keys(given)) if (SERVICE_NAMES.includes(name)) report(`${at}/${name}`, FILLED_IN);
  if (Buffer.byteLength(JSON.stringify(given)) > LIQUID_LIMITS.variables) report(at, TOO_LARGE);
  for (const { key, type, required, fallback } of declared) {
    const value = ownOf(given, key) ?? null;
    if (value === null) {
      if (required && !mayLack) report(`${at}/${key}`, REQUIRED);
      values[key] = fallback;
      continue;
    }
    const problem = problemOfValue(type, value);
    if (problem !== null) report(`${at}/${key}`, problem);
  }
  return values;
}
