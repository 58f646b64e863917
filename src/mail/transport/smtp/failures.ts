import type { Fault, SubType } from '../transport.ts';

/** The meaning of a kind of failure. */
interface Meaning {
  readonly fault: Fault;
  /** True when a permanent failure of this kind proves that the address does not work any more. */
  readonly provesDead: boolean;
}

/**
 * The meaning of each kind of failure, for replies of servers and for reports that come later. A full mailbox
 * empties, a block list forgets, another message is welcome, and a host comes back: only the first three
 * suppress an address.
 */
export const FAILURES: Readonly<Record<SubType, Meaning>> = {
  NoEmail: { fault: 'recipient', provesDead: true },
  MailboxDisabled: { fault: 'recipient', provesDead: true },
  DomainNotFound: { fault: 'recipient', provesDead: true },
  MailboxFull: { fault: 'recipient', provesDead: false },
  MessageTooLarge: { fault: 'message', provesDead: false },
  ContentRejected: { fault: 'message', provesDead: false },
  PolicyRejected: { fault: 'infrastructure', provesDead: false },
  RateLimited: { fault: 'infrastructure', provesDead: false },
  ConnectionFailed: { fault: 'infrastructure', provesDead: false },
  TlsFailed: { fault: 'infrastructure', provesDead: false },
  AuthenticationFailed: { fault: 'infrastructure', provesDead: false },
  General: { fault: 'infrastructure', provesDead: false },
};
