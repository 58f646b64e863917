import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** The safeguards that a chaos run can switch off, to show that it notices their absence. */
export const SAFEGUARDS = [
  'revision',
  'lease',
  'attempt',
  'commit',
  'hold',
  'key',
  'report',
  'clock',
  'heartbeat',
  'low-water',
  'step',
  'recipient',
  'received',
] as const;

export type Safeguard = (typeof SAFEGUARDS)[number];

/** The points at which an instance can kill itself, in the order in which an email passes them. */
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

export type CrashPoint = (typeof CRASH_POINTS)[number];

const oneOf = <const Names extends readonly string[]>(names: Names) =>
  Type.Unsafe<Names[number]>(Type.Union(names.map((name) => Type.Literal(name))));

const ChaosSetting = Type.Object(
  {
    /**
     * Must be stored in the table `torture` of the database, which only `posthorn torture` and the tests
     * create.
     */
    token: Type.String({ minLength: 16 }),
    /** The safeguards that are switched off. */
    break: Type.Optional(Type.Array(oneOf(SAFEGUARDS))),
    crash: Type.Optional(
      Type.Object({
        at: oneOf(CRASH_POINTS),
        /** The visit of the point that kills, from 1. */
        visit: Type.Integer({ minimum: 1 }),
        /** Milliseconds after the statement was sent, for the points that end in `.sent`. */
        afterMs: Type.Integer({ minimum: 0 }),
      }),
    ),
    /** Milliseconds after which an attempt counts as lost. */
    leaseMs: Type.Integer({ minimum: 100 }),
    /** Attempts in progress at the same time; the product's own limit when absent. */
    slots: Type.Optional(Type.Integer({ minimum: 1 })),
    /**
     * It takes itself to be the only instance, so that it claims nothing until it meets another one's work.
     */
    isAlone: Type.Optional(Type.Boolean()),
    /** Milliseconds that the instance's clock is ahead. */
    clockOffsetMs: Type.Optional(Type.Integer()),
    /** The file to which every performed order is appended. */
    record: Type.Optional(Type.String()),
    seed: Type.Integer(),
  },
  { additionalProperties: false },
);

/** The faults of one instance; never set in production. */
export type ChaosSetting = Static<typeof ChaosSetting>;

/** Reads the JSON of the variable TORTURE; undefined when it does not match. */
export function readTortureSetting(text: string): ChaosSetting | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(ChaosSetting, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
