import { defineModule, offered } from '../module.ts';
import { enqueue, serviceEmailSender } from './queue.ts';
import { warningOf } from './watch.ts';

/** Emails of the service itself: invitations, new passwords, warnings. Nothing that is needed to get in depends on them. */
export const serviceEmailsModule = defineModule({
  name: 'service-emails',
  open: ({ config, database, clock, sealer, logger }) => ({
    connect({ engine, offers }) {
      if (config.serviceEmails === 'off') {
        offers.sendServiceEmail = async () => {};
        return { deps: {} as never };
      }
      const { publicUrl } = config;
      const deps = { database, clock, sealer, logger, publicUrl, send: offered(offers, 'directMail') };
      offers.sendServiceEmail = (email) => enqueue(deps, email);
      const nameOf = async (id: string) =>
        (await database.query<{ name: string }>('select name from domains where id = $1', [id]))[0]?.name ??
        null;
      engine.listen(({ name }, drafts) => {
        for (const draft of drafts)
          warningOf(name, draft, nameOf)
            .then((warning) => warning && enqueue(deps, warning))
            .catch((error: unknown) => logger.warn({ err: error }, 'A warning could not be written down.'));
      });
      return { deps: {} as never, duties: [serviceEmailSender(deps)] };
    },
  }),
});
