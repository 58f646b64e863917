/** The functions that billing gives to other modules. */
export interface BillingApi {
  /** Ends what a workspace pays for. @throws Unavailable */
  endSubscriptions(workspaceId: string): Promise<void>;
}
