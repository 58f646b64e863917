import { NotBegun } from '../begin.ts';
import type { Monotonic } from '../monotonic.ts';
import type { Finding, OutboundMessage, RecipientOutcome, SendLimits, Transport } from '../transport.ts';
import { type Admission, Circuit, type CircuitState } from './circuit.ts';

/** One of several relays, with the name it is recorded under. */
export interface Relay {
  readonly name: string;
  readonly transport: Transport;
}

interface Way extends Relay {
  readonly circuit: Circuit;
}

/** The circuit opened while the message waited for a session. */
class Resting extends Error {
  override readonly name = 'Resting';
}

/**
 * Sends through the first of several relays that works. The next one gets a message only when the one before it has surely not
 * taken it: no session, or a failure of the session before the final dot, or 421. `unknown` is an end: it is never given on.
 */
export class FailoverTransport implements Transport {
  readonly name = 'smtp';
  readonly confirmsDelivery = false;
  readonly #ways: readonly Way[];

  constructor(
    relays: readonly Relay[],
    private readonly monotonic: Monotonic,
  ) {
    this.#ways = relays.map((relay) => ({ ...relay, circuit: new Circuit(monotonic) }));
  }

  /** The state of each relay, in their order. */
  get states(): readonly { readonly relay: string; readonly state: CircuitState }[] {
    return this.#ways.map(({ name, circuit }) => ({ relay: name, state: circuit.state }));
  }

  async send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    const until = this.monotonic() + limits.deadlineMs;
    const passedOver: string[] = [];
    const told = (relay: string, outcomes: readonly RecipientOutcome[], others: readonly string[]) =>
      outcomes.map((one) => ({ ...one, relay, passedOver: others }));
    let last: readonly RecipientOutcome[] | null = null;
    for (const way of this.#ways) {
      const deadlineMs = until - this.monotonic();
      if (last !== null && (limits.signal.aborted || deadlineMs <= 0)) break;
      const sent: readonly RecipientOutcome[] | null = await this.#through(way, message, {
        ...limits,
        deadlineMs,
      }).catch((error: unknown) => {
        // The attempt has begun and is over by now; what is known of the relay before this one still counts.
        if (error instanceof NotBegun && last !== null) return last;
        throw error;
      });
      if (sent === last && last !== null) break;
      if (sent === null) passedOver.push(`${way.name}: ${absenceOf(way.circuit)}`);
      else {
        last = told(way.name, sent, [...passedOver]);
        if (!mayPassOn(sent)) break;
        passedOver.push(`${way.name}: ${sent[0]?.response ?? ''}`);
      }
    }
    if (last !== null) return last;
    // Every relay is left alone. The first one is asked all the same, as a single relay would be.
    const [first] = this.#ways as readonly [Way, ...Way[]];
    const deadlineMs = until - this.monotonic();
    const sent = await first.transport.send(message, { ...limits, deadlineMs });
    if (sent.some(({ outcome }) => outcome === 'accepted' || outcome === 'refused')) first.circuit.worked();
    return told(first.name, sent, passedOver.slice(1));
  }

  async verify(): Promise<readonly Finding[]> {
    return (await Promise.all(this.#ways.map(({ transport }) => transport.verify()))).flat();
  }

  async close(): Promise<void> {
    await Promise.all(this.#ways.map(({ transport }) => transport.close()));
  }

  /** The outcomes of one relay; null when it is left alone, so that nothing was opened. */
  async #through(
    { circuit, transport }: Way,
    message: OutboundMessage,
    limits: SendLimits,
  ): Promise<readonly RecipientOutcome[] | null> {
    if (!circuit.isPassable) return null;
    let admission: Admission | null = null;
    const begin = async (): Promise<boolean> => {
      if (limits.begin && !(await limits.begin())) return false;
      admission = circuit.admit();
      if (admission === null) throw new Resting();
      return true;
    };
    try {
      const sent = await transport.send(message, { ...limits, begin });
      this.#learn(circuit, admission, sent, limits.signal.aborted);
      return sent;
    } catch (error) {
      if (admission !== null) circuit.abandoned(admission);
      if (error instanceof Resting) return null;
      throw error;
    }
  }

  #learn(
    circuit: Circuit,
    admission: Admission | null,
    sent: readonly RecipientOutcome[],
    isStopped: boolean,
  ): void {
    const isDown = mayPassOn(sent) || sent.some(({ outcome }) => outcome === 'unknown');
    if (!isDown) circuit.worked();
    else if (admission === null) return;
    else if (isStopped) circuit.abandoned(admission);
    else circuit.failed(admission);
  }
}

/** Why a relay was not asked. */
const absenceOf = ({ restMs }: Circuit): string =>
  restMs > 0
    ? `left alone after failures, for ${Math.ceil(restMs / 1_000)} s more`
    : 'left alone after failures, while another email tries it';

/**
 * True when surely nobody got the message because of the relay itself. A 450 or 451 about a recipient or a message is an answer of
 * a relay that works: another relay would be a way around grey-listing.
 */
const mayPassOn = (sent: readonly RecipientOutcome[]): boolean =>
  sent.every(({ isServerDown }) => isServerDown === true);
