/** The functions that this module gives to others. */
export interface SystemApi {
  /** Tells load balancers that this instance is about to stop. */
  drain(): void;
}
