import type { EmailContext } from './context.ts';
import { EVENT_TRAITS } from './event-traits.ts';
import { afterReport, type RestingState, restingState } from './progress.ts';
import type { RecipientProgress, RecordedEvent } from './recipient.ts';
import { isRepeated } from './repetition.ts';
import { type ScriptProgress, SIMULATED_REPORTS, type SimulatedReportOf } from './script.ts';

type ScriptContext = Pick<EmailContext, 'at' | 'sentAt' | 'script' | 'scripted' | 'recipients'>;

const nextOf = ({ script, scripted }: ScriptContext) => script?.reports[scripted?.done ?? 0];

/** The time until the next report of the script; without end where there is none. */
export function waitForScript(context: ScriptContext): number {
  const next = nextOf(context);
  if (!next) return Number.POSITIVE_INFINITY;
  const origin = context.scripted?.at ?? context.sentAt ?? context.at;
  return Math.max(0, origin + next.afterMs - context.at);
}

/** The result of the reports that are due now. */
export interface ScriptedTurn {
  readonly recipients: readonly RecipientProgress[];
  readonly events: readonly RecordedEvent[];
  readonly scripted: ScriptProgress;
}

/** Each report numbers its links from the start, so that none repeats the one before. */
const MOST_OF_A_TURN = 1_000;

/**
 * Takes the next reports of the script, for all recipients. Failed recipients make no report, and none makes
 * the same one twice.
 */
export function turnOfScript(context: ScriptContext, at: number): ScriptedTurn {
  const done = context.scripted?.done ?? 0;
  let { recipients } = context;
  const events: RecordedEvent[] = [];
  nextOf(context)?.what.forEach((name, place) => {
    const simulated: SimulatedReportOf = SIMULATED_REPORTS[name];
    const { isVisit } = EVENT_TRAITS[simulated.type];
    for (const recipient of recipients.keys()) {
      const report = {
        ...simulated,
        recipient,
        ...(isVisit && { link: (done + 1) * MOST_OF_A_TURN + place }),
      };
      const received = { type: 'report.received', at, report } as const;
      const known = recipients[recipient] as RecipientProgress;
      if (known.status === 'failed' || known.status === 'pending' || isRepeated(known, received)) continue;
      recipients = afterReport(recipients, received);
      const { type, permanent, data } = simulated;
      const kept =
        type === 'bounced' ? { type: permanent === true ? 'Permanent' : 'Transient', ...data } : data;
      events.push({ type, recipient, at, data: kept });
    }
  });
  return { recipients, events, scripted: { done: done + 1, at } };
}

/** True when the script has further reports, and the next ones lead to that state. */
export const scriptRests = (context: ScriptContext, at: number, state: RestingState): boolean =>
  nextOf(context) !== undefined && restingState(turnOfScript(context, at).recipients) === state;
