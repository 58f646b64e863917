import type { Arrival } from './store.ts';

export type { TakenRecipient } from './store.ts';

/** The functions that received mail gives to other modules. */
export interface ReceivedApi {
  /** Stores a message for each of its recipients, in one commit. @throws UnavailableError */
  receive(arrival: Arrival): Promise<readonly string[]>;
}
