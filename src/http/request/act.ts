import { Failure } from '../../platform/errors/failure.ts';
import type { Principal } from '../auth/principal.ts';
import type { Log, RequestLog } from '../log.ts';
import type { Exchange, WithExchange } from './exchange.ts';
import { type Call, Replay, type Route } from './route.ts';

/** An act that succeeded, for the audit log. */
export interface Act {
  readonly caller: Principal;
  readonly action: string;
  /** The id in the path, or of what was made; null where there is none. */
  readonly targetId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly now: number;
  /** The request that did it; null for the operator on the command line. */
  readonly requestId: string | null;
}

/** Something that a request has changed, for the pages that show it. */
export interface ChangeByRequest {
  readonly caller: Principal;
  readonly route: Pick<Route, 'path' | 'permission'>;
  readonly targetId: string | null;
}

/** Writes an act to the audit log. */
export type RecordAct = (act: Act) => Promise<void>;

/** The parts of the service that hear of acts. */
export interface ActDeps {
  /** Writes an act that succeeded to the audit log. */
  readonly recordAct?: RecordAct;
  /** Is called with what a request has changed, for the pages that show it. */
  readonly noteChange?: (change: ChangeByRequest) => void;
  readonly log: Log;
}

/** The context of a hook after the handler. */
interface AfterHandler extends WithExchange {
  readonly response: unknown;
}

/** The hooks that tell of what a request has done, before it is answered. */
export const acts = ({ recordAct: record, noteChange, log }: ActDeps) => ({
  change: ({ exchange, response }: AfterHandler) => {
    const done = doneIn(exchange);
    const change = done && changeBehind(done.route, done.call, response);
    if (change) noteChange?.(change);
  },
  audit: async ({ exchange, response }: AfterHandler) => {
    const done = doneIn(exchange);
    if (done && record) await recordAct(done.route, done.call, response, record, log);
  },
});

/**
 * The call of a handler by a caller; null where a hook has refused the request, or where there is no caller.
 */
function doneIn({ endpoint, call }: Exchange): { readonly route: Route; readonly call: Call } | null {
  return endpoint && call?.caller ? { route: endpoint.route, call: call as Call } : null;
}

/** The id in the path, or of what was made. The router gives no params to a path without names. */
function targetOf(call: Call, answer: unknown): string | null {
  const { id } = (call.params ?? {}) as { readonly id?: string };
  const made = typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : null;
  return id ?? made;
}

/** Requests that ask with a body, and change nothing. */
const ONLY_ASKS = /\/(?:preview|validate|simulate)$/;

/** True when a request to the route changes rows outside the engine's commits. */
export const isChange = ({ method, path, permission }: Route): boolean =>
  method !== 'GET' && String(permission).endsWith(':write') && !ONLY_ASKS.test(path);

/** The change that a request made; null when it was refused. */
const changeBehind = (route: Route, call: Call, answer: unknown): ChangeByRequest | null =>
  answer instanceof Failure || answer instanceof Replay
    ? null
    : { caller: call.caller, route, targetId: targetOf(call, answer) };

/**
 * Records the act behind an answer, when the route states one and it succeeded. The act has been done by
 * then, so a log that cannot be written is reported and does not turn the answer into a failure, which the
 * client would repeat, unless the entry is the act.
 */
async function recordAct(
  route: Route,
  call: Call,
  answer: unknown,
  record: RecordAct,
  log: RequestLog,
): Promise<void> {
  const { audit } = route;
  // A HEAD got nothing of what a GET would have handed out.
  if (!audit || answer instanceof Failure || answer instanceof Replay || call.method === 'HEAD') return;
  const { caller, now, requestId } = call;
  try {
    const details = audit.details?.(call) ?? {};
    const { action } = audit;
    await record({ caller, action, targetId: targetOf(call, answer), details, now, requestId });
  } catch (error) {
    if (audit.isRequired) throw error;
    log.error(
      { requestId, err: error, action: audit.action },
      'An act could not be written to the audit log',
    );
  }
}
