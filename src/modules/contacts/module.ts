import { defineModule } from '../module.ts';
import { type ContactDeps, contactRoutes } from './routes.ts';

/** Contacts: the people that a workspace writes to. */
export const contactsModule = defineModule<ContactDeps>({
  name: 'contacts',
  tags: [{ segment: 'contacts', name: 'Contacts', description: 'The people that you write to.' }],
  routes: contactRoutes,
  open: ({ database, signer }) => ({
    connect: () => ({ deps: { database, signer, findAudience: async () => null } }),
  }),
});
