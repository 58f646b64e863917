/** The functions that this module gives to others. */
export interface EventsApi {
  /** Seconds by which the event log is behind. @throws UnavailableError */
  readLogLag(): Promise<number>;
}
