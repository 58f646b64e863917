/** Where a command speaks; lines end themselves. */
export interface Terminal {
  out(text: string): void;
  error(text: string): void;
}
