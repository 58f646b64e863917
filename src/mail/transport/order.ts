import { Circuit, type CircuitState } from '../../platform/async/circuit.ts';
import type { MonotonicClock } from '../../platform/time/monotonic.ts';
import { sendInOrder, type Way } from './in-order.ts';
import { TRANSPORT_TRAITS } from './traits.ts';
import type { OutboundMessage, RecipientOutcome, SendLimits, Transport } from './transport.ts';

type Name = Transport['name'];

/** True when another transport may come after that one. */
export const mayBeFollowed = (name: Name): boolean => TRANSPORT_TRAITS[name].mayBeFollowed;

/** The order of transports: each once, none after one that is never down. */
export function orderOf(first: Name, fallbacks: readonly Name[]): readonly [Name, ...Name[]] {
  const order: [Name, ...Name[]] = [first];
  for (const name of fallbacks)
    if (order.every((before) => before !== name && mayBeFollowed(before))) order.push(name);
  return order;
}

/** The outcomes of one message, and the transport that was asked last. */
export interface TransportResult {
  readonly by: Transport;
  readonly outcomes: readonly RecipientOutcome[];
}

/** Sends by orders of transports. What is learned about a transport by one domain's mail holds for all. */
export class TransportOrder {
  readonly #circuits = new Map<Name, Circuit>();

  constructor(
    private readonly transport: (name: Name | null) => Transport,
    private readonly monotonic: MonotonicClock,
  ) {}

  /** The state of each transport that was followed by another one so far. */
  get states(): readonly { readonly transport: Name; readonly state: CircuitState }[] {
    return [...this.#circuits].map(([transport, { state }]) => ({ transport, state }));
  }

  /** True while a transport is not known to work: it is left alone, or one email tries whether it is back. */
  isDown(name: Name): boolean {
    const circuit = this.#circuits.get(name);
    return circuit !== undefined && circuit.state !== 'closed';
  }

  /**
   * Sends by the first transport (null: the default one), or by the first of the others while those before it
   * are down.
   */
  async send(
    first: Name | null,
    fallbacks: readonly Name[],
    message: OutboundMessage,
    limits: SendLimits,
    /**
     * Why the message may not be given to that one; null where it may. Not asked of a transport that nothing
     * follows.
     */
    refuses?: (name: Name) => Promise<string | null>,
  ): Promise<TransportResult> {
    const chosen = this.transport(first);
    const [, ...others] = orderOf(chosen.name, fallbacks);
    if (others.length === 0) return { by: chosen, outcomes: await chosen.send(message, limits) };
    const wayTo = (transport: Transport): Way => ({
      ...this.#way(transport),
      ...(refuses && { refuses: () => refuses(transport.name) }),
    });
    const ways: [Way, ...Way[]] = [wayTo(chosen), ...others.map((name) => wayTo(this.transport(name)))];
    const { way, sent, passedOver } = await sendInOrder(ways, message, limits, this.monotonic);
    const outcomes = sent.map((one) => ({
      ...one,
      passedOver: [...passedOver, ...(one.passedOver ?? [])],
    }));
    return { by: way.transport, outcomes };
  }

  #way(transport: Transport): Way {
    const { name } = transport;
    if (!mayBeFollowed(name)) return { name, transport, circuit: null };
    const circuit = this.#circuits.get(name) ?? new Circuit(this.monotonic);
    this.#circuits.set(name, circuit);
    return { name, transport, circuit };
  }
}
