import { defineModule, offered } from '../module.ts';
import { enqueue, serviceEmailSender } from './queue.ts';
import { Warner, warnerDuty } from './watch.ts';

/** Emails of the service itself: invitations, new passwords, warnings. Nothing that is needed to get in depends on them. */
export const serviceEmailsModule = defineModule({
  name: 'service-emails',
  open: ({ config, database, clock, sealer, logger }) => ({
    connect({ engine, offers, warnings }) {
      if (config.serviceEmails === 'off') {
        offers.sendServiceEmail = async () => {};
        return { deps: {} as never };
      }
      const { publicUrl } = config;
      const deps = { database, clock, sealer, logger, publicUrl, send: offered(offers, 'directMail') };
      offers.sendServiceEmail = (email) => enqueue(deps, email);
      const warner = new Warner({ ...deps, warnings });
      engine.listen(warner.hear);
      return { deps: {} as never, duties: [serviceEmailSender(deps), warnerDuty(warner)] };
    },
  }),
});
