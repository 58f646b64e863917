import type { Arrival } from './store.ts';

export type { MailboxPlace, TakenRecipient } from './store.ts';
// biome-ignore lint/performance/noBarrelFile: each door refuses by it.
export { type Untakable, untakable } from './untakable.ts';
export type { StoredAuthentication } from './views.ts';

/** The functions that received mail gives to other modules. */
export interface ReceivedApi {
  /** Stores a message for each of its recipients, in one commit. @throws UnavailableError */
  receive(arrival: Arrival): Promise<readonly string[]>;
}
