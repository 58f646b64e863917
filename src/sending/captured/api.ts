/** The functions that captured mail gives to other modules. */
export interface CapturedApi {
  /** Tells those who wait that live mail of a workspace was captured. */
  mailCaptured(workspaceId: string): void;
}
