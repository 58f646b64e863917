import type { Admission, Circuit } from '../../platform/async/circuit.ts';
import type { MonotonicClock } from '../../platform/time/monotonic.ts';
import { NotBegun } from './begin.ts';
import type { OutboundMessage, RecipientOutcome, SendLimits, Transport } from './transport.ts';

/** One of several ways out, with the name it is recorded under. */
export interface Way {
  readonly name: string;
  readonly transport: Transport;
  /** Null for a way that is never left alone. */
  readonly circuit: Circuit | null;
  /** Why a message may not be given to it; null where it may. */
  refuses?(): Promise<string | null>;
}

/** The outcomes of the way that was asked last. */
export interface Passage {
  readonly way: Way;
  readonly sent: readonly RecipientOutcome[];
  /** The ways before it that were not used, each with the reason. */
  readonly passedOver: readonly string[];
}

/** The circuit opened while the message waited for a session. */
class CircuitOpenError extends Error {
  override readonly name = 'Resting';

  constructor(readonly circuit: Circuit) {
    super();
  }
}

/**
 * Sends by the first way that works. The next one gets a message only when the one before it has surely not
 * taken it, because it is itself down. `unknown` is an end: it is never given on.
 */
export async function sendInOrder(
  ways: readonly [Way, ...Way[]],
  message: OutboundMessage,
  limits: SendLimits,
  monotonic: MonotonicClock,
): Promise<Passage> {
  const [first] = ways;
  const until = monotonic() + limits.deadlineMs;
  const passedOver: string[] = [];
  let last: Passage | null = null;
  for (const way of ways) {
    const deadlineMs = until - monotonic();
    if (last !== null && (limits.signal.aborted || deadlineMs <= 0)) return last;
    const refusal = (way.circuit?.isPassable === false ? null : await way.refuses?.()) ?? null;
    // The one message that tries the first way after its rest needs no leave: else no message without room
    // would ever find it back.
    const onlyAsTrial = refusal !== null && way === first && way.circuit?.state === 'rested';
    if (refusal !== null && !onlyAsTrial) {
      passedOver.push(`${way.name}: ${refusal}`);
      continue;
    }
    let sent: readonly RecipientOutcome[] | null;
    try {
      sent = await through(way, message, { ...limits, deadlineMs }, onlyAsTrial);
    } catch (error) {
      // The attempt has begun and is over by now; what is known of the way before this one still counts.
      if (error instanceof NotBegun && last !== null) return last;
      throw error;
    }
    if (sent === null) passedOver.push(`${way.name}: ${refusal ?? absenceOf(way.circuit)}`);
    else {
      last = { way, sent, passedOver: [...passedOver] };
      if (!mayPassOn(sent)) return last;
      passedOver.push(`${way.name}: ${sent[0]?.response ?? ''}`);
    }
  }
  if (last !== null) return last;
  // Every way is left alone. The first one is asked all the same, as a single one would be.
  const way = first;
  if (typeof (await way.refuses?.()) === 'string') throw new NotBegun();
  const sent = await way.transport.send(message, { ...limits, deadlineMs: until - monotonic() });
  if (sent.some(({ outcome }) => outcome === 'accepted' || outcome === 'refused')) way.circuit?.worked();
  return { way, sent, passedOver: passedOver.slice(1) };
}

/**
 * The outcomes of one way; null when it is left alone, so that nothing was opened. `onlyAsTrial`: so is one
 * that was found to work while the message waited for a session, since only the trial goes without leave.
 */
async function through(
  { circuit, transport }: Way,
  message: OutboundMessage,
  limits: SendLimits,
  onlyAsTrial: boolean,
): Promise<readonly RecipientOutcome[] | null> {
  if (circuit === null) return transport.send(message, limits);
  if (!circuit.isPassable) return null;
  let admission: Admission | null = null;
  const begin = async (): Promise<boolean> => {
    if (limits.begin && !(await limits.begin())) return false;
    // A way that is an order itself begins with each of its own ways, all by the leave that the first one
    // had.
    admission ??= circuit.admit();
    if (admission === null || (onlyAsTrial && admission !== 'trial')) throw new CircuitOpenError(circuit);
    return true;
  };
  try {
    const sent = await transport.send(message, { ...limits, begin });
    if (admission !== null) learn(circuit, admission, sent, limits.signal.aborted);
    return sent;
  } catch (error) {
    if (admission !== null) circuit.abandoned(admission);
    // One of another circuit is for the order around this one.
    if (error instanceof CircuitOpenError && error.circuit === circuit) return null;
    throw error;
  }
}

function learn(
  circuit: Circuit,
  admission: Admission,
  sent: readonly RecipientOutcome[],
  isStopped: boolean,
): void {
  const isDown = mayPassOn(sent) || sent.some(({ outcome }) => outcome === 'unknown');
  if (!isDown) circuit.worked();
  else if (isStopped) circuit.abandoned(admission);
  else circuit.failed(admission);
}

/** Why a way was not asked. */
const absenceOf = (circuit: Circuit | null): string =>
  circuit !== null && circuit.restMs > 0
    ? `left alone after failures, for ${Math.ceil(circuit.restMs / 1_000)} s more`
    : 'left alone after failures, while another email tries it';

/**
 * True when surely no one got the message because of the way itself. A 450 or 451 about a recipient or a
 * message is an answer of a relay that works: another relay would be a way around grey-listing.
 */
const mayPassOn = (sent: readonly RecipientOutcome[]): boolean =>
  sent.every(({ isServerDown }) => isServerDown === true);
