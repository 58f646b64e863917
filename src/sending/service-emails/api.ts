import type { SendServiceEmail } from '../../accounts/service-emails.ts';

/** The functions that the service's own emails give to other modules. */
export interface ServiceEmailApi {
  readonly sendServiceEmail: SendServiceEmail;
}
