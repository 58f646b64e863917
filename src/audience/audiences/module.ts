import type { Module } from '../../http/module.ts';
import type { EmailsApi } from '../../sending/emails/api.ts';
import { askToConfirm } from '../preferences/commands.ts';
import type { AudienceUse } from './commands.ts';
import { type AudienceDeleter, memberSweeper } from './commands.ts';
import { ContactCounter } from './count.ts';
import { audienceFollower } from './follower.ts';
import type { MemberDeps } from './members.ts';
import type { AudienceLister } from './queries.ts';
import { audienceRoutes } from './routes.ts';

/** The parts of other modules that audiences need. */
interface AudienceNeeds extends Pick<EmailsApi, 'acceptance'> {
  /** Everything that needs audiences: one that is needed cannot be deleted. */
  readonly uses: readonly AudienceUse[];
}

/** Audiences: groups of contacts. */
export const audiencesModule: Module<MemberDeps & AudienceDeleter & AudienceLister, AudienceNeeds> = {
  name: 'audiences',
  tags: [
    { segment: 'audiences', name: 'Audiences', description: 'Groups of contacts, by name or by filter.' },
  ],
  routes: audienceRoutes,
  open: ({ config, clock, database, reads, signer }) => ({
    connect(_, { acceptance, uses }) {
      const { publicUrl } = config;
      return {
        api: undefined,
        deps: {
          database,
          reads,
          uses,
          counter: new ContactCounter(database),
          askToConfirm: (ids) => askToConfirm({ database, clock, signer, publicUrl, acceptance }, ids),
        },
        duties: [memberSweeper({ database }), audienceFollower({ database, clock })],
      };
    },
  }),
};
