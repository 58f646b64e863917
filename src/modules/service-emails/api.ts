import type { SendServiceEmail } from './commands.ts';

/** The functions that the service's own emails give to other modules. */
export interface ServiceEmailApi {
  readonly sendServiceEmail: SendServiceEmail;
}
