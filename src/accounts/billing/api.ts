/** The functions that billing gives to other modules. */
export interface BillingApi {
  /** Ends the subscriptions of a workspace. @throws UnavailableError */
  endSubscriptions(workspaceId: string): Promise<void>;
}
