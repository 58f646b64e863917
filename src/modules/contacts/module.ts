import { matchAudience } from '../audiences/queries.ts';
import { defineModule } from '../module.ts';
import { activityPruner } from './activity-pruner.ts';
import { Eraser } from './eraser.ts';
import { followsEmails } from './follow-emails.ts';
import { type ContactDeps, contactRoutes } from './routes.ts';

/** Contacts: the people that a workspace writes to. */
export const contactsModule = defineModule<ContactDeps>({
  name: 'contacts',
  tags: [{ segment: 'contacts', name: 'Contacts', description: 'The people that you write to.' }],
  follows: followsEmails.map((write) => ({ of: 'email', write })),
  routes: contactRoutes,
  open: ({ config, database, signer, sealer, clock }) => ({
    connect() {
      const eraser = new Eraser({ database, signer, sealer, clock });
      return {
        deps: {
          ...{ database, signer, sealer, eraser, tellsSes: config.transport.includes('ses') },
          findAudience: (scope, id, now) => matchAudience({ database }, scope, id, now),
        },
        duties: [eraser.duty, activityPruner({ database, clock })],
      };
    },
  }),
});
