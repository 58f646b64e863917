/**
 * The sessions of this database that wait for a row or a table, to be selected from: how a test sees that one
 * statement waits for another. Instances of the service wait for the end of each other all the time, by
 * advisory locks, which says nothing about a statement.
 */
export const LOCK_WAITS = `pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and wait_event <> 'advisory'`;
