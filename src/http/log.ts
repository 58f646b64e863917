/** The part of the logger that is needed here; pino has it. */
export interface Log {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
