/**
 * SQL: the time, read once the transaction has its number. Once all transactions with a lower number than one
 * that was given out after a moment have ended, no other one has a time before that moment, however long its
 * statement has waited. The scheduler's search and the collector of bodies rest on this order.
 */
export const NUMBERED_TIME = 'case when pg_current_xact_id() is not null then clock_timestamp() end';
