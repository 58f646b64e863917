import type { Principal } from '../auth/principal.ts';
import { Failure } from './failure.ts';
import type { Log } from './log.ts';
import { type Call, Replay, type Route } from './route.ts';

/** An act that succeeded, for the audit log. */
export interface Act {
  readonly caller: Principal;
  readonly action: string;
  /** The id in the path, or of what was made; null where there is none. */
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly now: number;
}

/** Writes an act to the audit log. */
export type RecordAct = (act: Act) => Promise<void>;

/**
 * Records the act behind an answer, when the route states one and it succeeded. The act has been done by then, so a log that
 * cannot be written is reported and does not turn the answer into a failure, which the client would repeat.
 */
export async function recordAct(
  { audit }: Route,
  call: Call,
  answer: unknown,
  record: RecordAct,
  log: Log,
): Promise<void> {
  // A HEAD got nothing of what a GET would have handed out.
  if (!audit || answer instanceof Failure || answer instanceof Replay || call.method === 'HEAD') return;
  const { caller, now } = call;
  const made = typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : null;
  try {
    // The router gives no params to a path without names.
    const { id } = (call.params ?? {}) as { readonly id?: string };
    const details = audit.details?.(call) ?? {};
    await record({ caller, action: audit.action, targetId: id ?? made, details, now });
  } catch (error) {
    log.error({ err: error, action: audit.action }, 'An act could not be written to the audit log');
  }
}
