import type { Transport } from './transport.ts';

/** The facts about a transport that the rest of the service decides by. */
export interface TransportTraits {
  /** True when its mail leaves this service. */
  readonly leaves: boolean;
  /** True when this service signs its mail. Amazon SES signs with the keys that the domain gave it. */
  readonly isSignedHere: boolean;
  /**
   * The hosts that SPF names for its mail: this service's, the relay's, or none where the provider has
   * another return path.
   */
  readonly sendingHosts: 'own' | 'relay' | 'none';
  /** True when a domain is verified only with its return path records: we know which server sends. */
  readonly needsReturnPath: boolean;
  /**
   * True when another transport may take over from it. A receiving server that is down is no fault of
   * `direct`.
   */
  readonly mayBeFollowed: boolean;
}

/** The traits of each transport: a new one does not compile until all of them are decided. */
export const TRANSPORT_TRAITS: Readonly<Record<Transport['name'], TransportTraits>> = {
  capture: {
    leaves: false,
    isSignedHere: true,
    sendingHosts: 'own',
    needsReturnPath: true,
    mayBeFollowed: false,
  },
  smtp: {
    leaves: true,
    isSignedHere: true,
    sendingHosts: 'relay',
    needsReturnPath: false,
    mayBeFollowed: true,
  },
  direct: {
    leaves: true,
    isSignedHere: true,
    sendingHosts: 'own',
    needsReturnPath: true,
    mayBeFollowed: false,
  },
  ses: {
    leaves: true,
    isSignedHere: false,
    sendingHosts: 'none',
    needsReturnPath: false,
    mayBeFollowed: true,
  },
};

/** True when mail by that transport leaves this service. */
export const leaves = (name: Transport['name']): boolean => TRANSPORT_TRAITS[name].leaves;
