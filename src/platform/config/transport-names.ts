/** The names of all transports. */
export const TRANSPORTS = ['capture', 'smtp', 'direct', 'ses'] as const;

/** The name of a transport. */
export type TransportName = (typeof TRANSPORTS)[number];

/** The enabled transports; the first one is the default. */
export type EnabledTransports = readonly [TransportName, ...TransportName[]];
