import { Circuit, type CircuitState } from '../../../platform/async/circuit.ts';
import type { MonotonicClock } from '../../../platform/time/monotonic.ts';
import { sendInOrder, type Way } from '../in-order.ts';
import type { Part } from '../part.ts';
import type { Finding, OutboundMessage, RecipientOutcome, SendLimits, Transport } from '../transport.ts';

/** One of several relays, with the name it is recorded under. */
export interface Relay {
  readonly name: string;
  readonly transport: Transport;
}

/**
 * Sends through the first of several relays that works. A relay is down that gives no session, breaks it
 * before the final dot, or answers 421.
 */
export class FailoverTransport implements Transport {
  readonly name = 'smtp';
  readonly confirmsDelivery = false;
  readonly #ways: readonly [Way, ...Way[]];

  constructor(
    relays: readonly Relay[],
    private readonly monotonic: MonotonicClock,
  ) {
    this.#ways = relays.map((relay) => ({ ...relay, circuit: new Circuit(monotonic) })) as unknown as [
      Way,
      ...Way[],
    ];
  }

  /** The state of each relay, in their order. */
  get states(): readonly { readonly relay: string; readonly state: CircuitState }[] {
    return this.#ways.map(({ name, circuit }) => ({ relay: name, state: circuit?.state ?? 'closed' }));
  }

  async send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    const { way, sent, passedOver } = await sendInOrder(this.#ways, message, limits, this.monotonic);
    return sent.map((one) => ({ ...one, relay: way.name, passedOver }));
  }

  async verify(): Promise<readonly Finding[]> {
    return (await Promise.all(this.#ways.map(({ transport }) => transport.verify()))).flat();
  }

  keepTo(part: Part): void {
    for (const { transport } of this.#ways) transport.keepTo?.(part);
  }

  async close(): Promise<void> {
    await Promise.all(this.#ways.map(({ transport }) => transport.close()));
  }
}
