/** The age from which on the last sign of life of an instance counts no more. */
export const GONE_AFTER_MS = 35_000;
const patience = `interval '${GONE_AFTER_MS} milliseconds'`;

/**
 * The condition on a row of `service_instances` whose instance lives. A clock that leapt makes none of them
 * live for ever.
 */
export const IS_LIVING = `seen_at between clock_timestamp() - ${patience} and clock_timestamp() + ${patience}`;
