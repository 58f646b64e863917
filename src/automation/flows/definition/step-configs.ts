import { type TSchema, Type } from '@sinclair/typebox';
import { type StepType, WEEKDAYS } from '../../../../machines/flow-run/definition.ts';
import { compileChecker, literals } from '../../../http/request/schema.ts';
import type { Detail } from '../../../platform/errors/failure.ts';
import { ONE_LINE } from '../../../platform/errors/text-length.ts';
import { eachField } from '../../../platform/text/contact-fields.ts';
import { LONGEST_TAG, NO_LANGUAGE, readLanguage } from '../../../platform/text/language.ts';
import { NO_ZONE, zones } from '../../../platform/zones/zones.ts';

/** The longest delay, and the longest waiting for an event: a little over a year. */
export const LONGEST_DAYS = 400;
/** The latest moment that flows know: years after 9999 have no place in the database or in answers. */
export const LATEST = Date.UTC(2100, 0);
/** The most branches of a step. */
export const MOST_BRANCHES = 20;

/** The shape of the keys of steps and of branches. */
export const KEY = '^[A-Za-z][A-Za-z0-9_-]{0,63}$';
const TIME = '^([01][0-9]|2[0-3]):[0-5][0-9]$';
/** The shape of the names of custom events. */
export const EVENT_NAME = '^[A-Za-z][A-Za-z0-9_.:-]{0,99}$';

export const TimeOfDay = Type.String({ pattern: TIME, examples: ['09:00'], description: '`HH:MM`.' });
const Dictionary = Type.Object({}, { additionalProperties: Type.Unknown() });
const Wait = Type.Object({
  amount: Type.Integer({ minimum: 1, maximum: LONGEST_DAYS * 1_440 }),
  unit: literals(['minutes', 'hours', 'days', 'weeks']),
});
const Name = Type.Union([Type.String({ maxLength: 200 }), Type.Null()]);

/** The settings of each type of step. */
export const CONFIGS = {
  sendEmail: Type.Object({
    templateId: Type.String({ minLength: 1, maxLength: 100 }),
    variables: Type.Optional(Dictionary),
    from: Type.Optional(Type.String({ maxLength: 500 })),
    subject: Type.Optional(Type.String({ minLength: 1, maxLength: 998, pattern: ONE_LINE })),
    language: Type.Optional(
      Type.String({
        maxLength: LONGEST_TAG,
        description: 'The language (BCP 47); that of the contact by default.',
      }),
    ),
  }),
  delay: Wait,
  delayUntil: Type.Object({
    at: Type.Optional(Type.String({ format: 'date-time' })),
    time: Type.Optional(TimeOfDay),
    weekdays: Type.Optional(Type.Array(literals(WEEKDAYS), { minItems: 1, maxItems: 7, uniqueItems: true })),
    timeZone: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  condition: Type.Object({ filter: Type.Unknown() }),
  branch: Type.Object({
    branches: Type.Array(Type.Object({ key: Type.String({ pattern: KEY }), filter: Type.Unknown() }), {
      minItems: 1,
      maxItems: MOST_BRANCHES,
    }),
  }),
  waitForEvent: Type.Object({
    name: Type.String({ pattern: EVENT_NAME }),
    filter: Type.Optional(Type.Unknown()),
    timeout: Wait,
  }),
  updateContact: Type.Object({
    ...eachField(() => Type.Optional(Name)),
    properties: Type.Optional(Dictionary),
  }),
  addToAudience: Type.Object({ audienceId: Type.String() }),
  removeFromAudience: Type.Object({ audienceId: Type.String() }),
  webhook: Type.Object({ url: Type.String({ maxLength: 2_048 }) }),
  exit: Type.Object({ reason: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) }),
} as const satisfies Record<StepType, TSchema>;

/** The types of steps, in the order of the documentation. */
export const STEP_TYPES = Object.keys(CONFIGS) as StepType[];

const CHECKERS = Object.fromEntries(
  Object.entries(CONFIGS).map(([type, schema]) => [type, compileChecker(schema)]),
) as Readonly<Record<StepType, ReturnType<typeof compileChecker>>>;

const DAYS = { minutes: 1 / 1_440, hours: 1 / 24, days: 1, weeks: 7 } as const;

const tooLong = (wait: { readonly amount: number; readonly unit: keyof typeof DAYS }): boolean =>
  wait.amount * DAYS[wait.unit] > LONGEST_DAYS;

const TOO_LONG = `Must be at most ${LONGEST_DAYS} days.`;

/** Lists the problems in the settings of a step, without looking at other steps. */
export function configProblems(type: StepType, config: unknown, path: string): readonly Detail[] {
  const wrong = CHECKERS[type](config, path);
  return wrong ?? FURTHER[type]?.(config as never, path) ?? [];
}

type StepConfigCheck = (config: never, path: string) => readonly Detail[];

const FURTHER: Readonly<Partial<Record<StepType, StepConfigCheck>>> = {
  sendEmail: ({ language }: { language?: string }, path) =>
    language !== undefined && readLanguage(language) === null
      ? [{ path: `${path}/language`, message: NO_LANGUAGE }]
      : [],
  delay: (config: { amount: number; unit: keyof typeof DAYS }, path) =>
    tooLong(config) ? [{ path: `${path}/amount`, message: TOO_LONG }] : [],
  waitForEvent: ({ timeout }: { timeout: { amount: number; unit: keyof typeof DAYS } }, path) =>
    tooLong(timeout) ? [{ path: `${path}/timeout/amount`, message: TOO_LONG }] : [],
  delayUntil: ({ at, time, weekdays, timeZone }: Readonly<Record<string, unknown>>, path) => {
    if ((at === undefined) === (time === undefined))
      return [{ path, message: 'Set either a moment (at) or a time of day (time).' }];
    if (at !== undefined && (weekdays !== undefined || timeZone !== undefined))
      return [{ path, message: 'Weekdays and a time zone need a time of day (time).' }];
    if (at !== undefined && Date.parse(String(at)) >= LATEST)
      return [{ path: `${path}/at`, message: 'Must be before the year 2100.' }];
    return timeZone !== undefined && zones.nameOf(String(timeZone)) === null
      ? [{ path: `${path}/timeZone`, message: NO_ZONE }]
      : [];
  },
  branch: ({ branches }: { branches: readonly { key: string }[] }, path) =>
    branches.flatMap(({ key }, index) => {
      const isTaken = key === 'default' || branches.findIndex((one) => one.key === key) < index;
      return isTaken
        ? [
            {
              path: `${path}/branches/${index}/key`,
              message: 'Must differ from the keys of other branches, and from default.',
            },
          ]
        : [];
    }),
  updateContact: (config: object, path) =>
    Object.keys(config).length === 0 ? [{ path, message: 'Set at least one of the members to change.' }] : [],
};
