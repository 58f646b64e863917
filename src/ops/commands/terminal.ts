/**
 * The exit code where a setting is wrong, as for one that cannot be understood, or names a place that is
 * taken: another start would end in the same way.
 */
export const MISUSE = 2;

/** The output of a command. Callers write the line breaks. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
  /** The width of a window that a person watches; left out where the output goes elsewhere. */
  readonly columns?: number | undefined;
  /** Asks the person at the keyboard for a text that is not shown; left out where there is none. */
  askSecret?(question: string): Promise<string>;
}
