/** The methods of the logger that the HTTP layer uses. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
