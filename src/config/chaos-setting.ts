import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** The safeguards that a torture can switch off, to show that it notices. */
export const SAFEGUARDS = [
  'revision',
  'lease',
  'attempt',
  'commit',
  'hold',
  'key',
  'report',
  'clock',
] as const;

/** One of them. */
export type Safeguard = (typeof SAFEGUARDS)[number];

/** Where an instance can be made to kill itself, in the order in which an email passes by. */
export const CRASH_POINTS = [
  'accept.before',
  'accept.sent',
  'accept.committed',
  'accept.answered',
  'perform.before',
  'perform.during',
  'perform.after',
  'commit.before',
  'commit.sent',
  'commit.committed',
  'command.answered',
  'claim.before',
  'claim.sent',
  'claim.committed',
] as const;

/** One of them. */
export type CrashPoint = (typeof CRASH_POINTS)[number];

const oneOf = <const Names extends readonly string[]>(names: Names) =>
  Type.Unsafe<Names[number]>(Type.Union(names.map((name) => Type.Literal(name))));

const ChaosSetting = Type.Object(
  {
    /** Must be in the table `torture` of the database: only `posthorn torture` and the tests put one there. */
    token: Type.String({ minLength: 16 }),
    break: Type.Optional(oneOf(SAFEGUARDS)),
    crash: Type.Optional(
      Type.Object({
        at: oneOf(CRASH_POINTS),
        /** The first time the point is passed is 1. */
        visit: Type.Integer({ minimum: 1 }),
        /** How long after a statement was handed over; read for the points called `.sent`. */
        afterMs: Type.Integer({ minimum: 0 }),
      }),
    ),
    /** How long an attempt may take before it counts as lost. */
    leaseMs: Type.Integer({ minimum: 100 }),
    /** Attempts that may run at once; as many as without a torture when absent. */
    slots: Type.Optional(Type.Integer({ minimum: 1 })),
    /** How far ahead the clock of the instance's machine is. */
    clockOffsetMs: Type.Optional(Type.Integer()),
    /** A file to which every performed order is appended. */
    record: Type.Optional(Type.String()),
    seed: Type.Integer(),
  },
  { additionalProperties: false },
);

/** How an instance is tortured; never set where mail matters. */
export type ChaosSetting = Static<typeof ChaosSetting>;

/** Reads the variable TORTURE, which is JSON; undefined when it is none that `posthorn torture` would write. */
export function readTortureSetting(text: string): ChaosSetting | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(ChaosSetting, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
