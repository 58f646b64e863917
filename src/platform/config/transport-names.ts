/** The names of all transports. */
export const TRANSPORTS = ['capture', 'smtp', 'direct', 'ses'] as const;

export type TransportName = (typeof TRANSPORTS)[number];

/** The enabled transports; the first one is the default. */
export type EnabledTransports = readonly [TransportName, ...TransportName[]];
