import type { Module } from '../../http/module.ts';
import { LocalCounter } from '../../platform/time/window-counter.ts';
import { matchAudience } from '../audiences/queries.ts';
import { activityPruner } from './activity/activity-pruner.ts';
import { EventRecorder } from './activity/event-recorder.ts';
import { followsEmails } from './activity/follow-emails.ts';
import { replyInsertRule } from './activity/replies.ts';
import { Eraser, type ForgettingHooks } from './forgetting/eraser.ts';
import { type ContactDeps, contactRoutes } from './routes.ts';

type ContactNeeds = Required<Pick<ContactDeps, 'testClocks'>> & { readonly forgetting: ForgettingHooks };

/** Contacts: the people that a workspace writes to. */
export const contactsModule: Module<ContactDeps, ContactNeeds> = {
  name: 'contacts',
  tags: [{ segment: 'contacts', name: 'Contacts', description: 'The people that you write to.' }],
  insertRules: [replyInsertRule],
  follows: followsEmails.map((write) => ({ of: 'email', write })),
  routes: contactRoutes,
  open: ({ config, database, reads, signer, sealer, clock, logger }) => ({
    connect({ engine }, { testClocks, forgetting: hooks }) {
      const eraser = new Eraser({ hooks, database, engine, signer, sealer, clock, logger });
      return {
        api: undefined,
        deps: {
          testClocks,
          database,
          reads,
          signer,
          sealer,
          eraser,
          tellsSes: config.transport.includes('ses'),
          baseUrl: config.publicUrl,
          eventRecorder: new EventRecorder(database),
          eventCounter: new LocalCounter(1_000, () => clock.monotonic()),
          findAudience: (scope, id, now) => matchAudience({ database }, scope, id, now),
        },
        duties: [eraser.duty, activityPruner({ database, clock, config })],
      };
    },
  }),
};
