/** The functions that captured mail gives to other modules. */
export interface CapturedApi {
  /** Wakes requests that wait for captured mail of a workspace. */
  mailCaptured(workspaceId: string): void;
}
