/** The reason for the state of an actor, in words. */
export interface Explanation {
  readonly summary: string;
  /** The rule of this state. */
  readonly rule: string;
  readonly evidence: readonly { readonly at: number; readonly text: string }[];
  readonly next: { readonly text: string; readonly at: number | null };
}
