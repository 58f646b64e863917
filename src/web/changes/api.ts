import type { SocketUpgrade } from '../../http/listen/listen.ts';
import type { Noted } from '../../http/module.ts';

/** The functions that the feed of changes gives to the service. */
export interface ChangesApi {
  /** The connection that tells pages of changes. */
  readonly sockets: SocketUpgrade;
  /** Notes a change that no commit of the engine tells of. */
  note(noted: Noted): void;
}
