import type { Warning } from '../../accounts/service-emails.ts';
import type { Module } from '../../http/module.ts';
import type { EmailsApi } from '../emails/api.ts';
import type { ServiceEmailApi } from './api.ts';
import { enqueue, serviceEmailSender } from './queue.ts';
import { Warner, warnerDuty } from './watch.ts';

interface ServiceEmailNeeds extends Pick<EmailsApi, 'directMail'> {
  /** The changes of actors that the admins of their workspace are warned of. */
  readonly warnings: readonly Warning[];
}

/**
 * Emails of the service itself: invitations, new passwords, warnings. Nothing that is needed to get in
 * depends on them.
 */
export const serviceEmailsModule: Module<undefined, ServiceEmailNeeds, ServiceEmailApi> = {
  name: 'service-emails',
  open: ({ config, database, clock, sealer, logger }) => ({
    connect({ engine }, { directMail, warnings }) {
      if (config.serviceEmails === 'off')
        return { api: { sendServiceEmail: async () => {} }, deps: undefined };
      const { publicUrl } = config;
      const deps = { database, clock, sealer, logger, publicUrl, send: directMail };
      const warner = new Warner({ ...deps, warnings });
      engine.listen(warner.hear);
      return {
        api: { sendServiceEmail: (email) => enqueue(deps, email) },
        deps: undefined,
        duties: [serviceEmailSender(deps), warnerDuty(warner)],
      };
    },
  }),
};
