import { defineModule, offered } from '../module.ts';
import { askToConfirm } from '../preferences/commands.ts';
import { type AudienceDeleter, memberSweeper } from './commands.ts';
import { ContactCounter } from './count.ts';
import { audienceFollower } from './follower.ts';
import type { MemberDeps } from './members.ts';
import type { AudienceLister } from './queries.ts';
import { audienceRoutes } from './routes.ts';

/** Audiences: groups of contacts. */
export const audiencesModule = defineModule<MemberDeps & AudienceDeleter & AudienceLister>({
  name: 'audiences',
  tags: [
    { segment: 'audiences', name: 'Audiences', description: 'Groups of contacts, by name or by filter.' },
  ],
  routes: audienceRoutes,
  open: ({ config, clock, database, reads, signer }) => ({
    connect({ offers, audienceUses }) {
      const { publicUrl } = config;
      const acceptance = offered(offers, 'acceptance');
      return {
        deps: {
          ...{ database, reads },
          uses: audienceUses,
          counter: new ContactCounter(database),
          askToConfirm: (ids) => askToConfirm({ database, clock, signer, publicUrl, acceptance }, ids),
        },
        duties: [memberSweeper({ database }), audienceFollower({ database, clock })],
      };
    },
  }),
});
