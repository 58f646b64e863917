/** The output of a command. Callers write the line breaks. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
}
