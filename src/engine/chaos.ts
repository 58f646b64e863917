import type { Database } from '../platform/db/database.ts';
import type { Engine, EngineParts } from './engine.ts';

/**
 * Faults that are injected into a service by wrapping its parts; the product itself contains none of them.
 */
export interface Chaos {
  /** Verifies the database before its first use. @throws NotBreakable when a chaos run did not create it */
  prepare(database: Database): Promise<void>;
  createEngine(parts: EngineParts): Engine;
  /** The broken safeguard: the instance believes its own clock. */
  readonly trustsMachineClock: boolean;
}
