import type { SocketUpgrade } from '../../http/listen/listen.ts';
import type { ChangeNote } from '../../http/module.ts';

/** The functions that the feed of changes gives to the service. */
export interface ChangesApi {
  /** The connection that tells pages of changes. */
  readonly sockets: SocketUpgrade;
  /** Notes a change outside the engine's commits. */
  note(noted: ChangeNote): void;
}
