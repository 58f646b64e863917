import type { Module } from '../../http/module.ts';
import type { EmailsApi } from '../emails/api.ts';
import type { LeaveByMail } from '../inbound/commands.ts';
import type { ReceivedApi } from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';
import type { WebhooksApi } from '../webhooks/api.ts';
import type { MailboxCommands } from './commands.ts';
import { mailboxInsertRule } from './insert-rule.ts';
import { MailboxKeeper } from './keeper.ts';
import { Leases } from './leases.ts';
import { MessageTurns } from './message-turns.ts';
import { mailboxRoutes } from './routes.ts';

/** Mailboxes that are read by IMAP, for domains whose mail another server takes. */
export const mailboxesModule: Module<
  MailboxCommands,
  ReceivedApi &
    Pick<EmailsApi, 'recordFeedback'> &
    Pick<WebhooksApi, 'hosts'> & { readonly reports: ReportsApi; readonly leaveByMail: LeaveByMail }
> = {
  name: 'mailboxes',
  tags: [
    {
      segment: 'mailboxes',
      name: 'Mailboxes',
      description: 'Read mailboxes at other servers by IMAP, for domains whose mail another server takes.',
    },
  ],
  insertRules: [mailboxInsertRule],
  routes: mailboxRoutes,
  open: ({ database, clock, logger, sealer, signer, ca, mailReader, senderChecks, spamFilter, metrics }) => ({
    connect(_, { receive, recordFeedback, hosts, reports, leaveByMail }) {
      const turns = new MessageTurns();
      const leases = new Leases(database, () => clock.now());
      const keeper = new MailboxKeeper(
        {
          database,
          sealer,
          signer,
          ca,
          mailReader,
          senderChecks,
          receive,
          leases,
          turns,
          reports,
          leaveByMail,
          spamFilter,
          now: () => clock.now(),
          monotonic: clock.monotonic,
          record: recordFeedback,
          hosts: () => hosts,
          count: (end) => metrics?.mailboxMessage(end),
        },
        logger,
      );
      metrics?.watch(
        'posthorn_mailboxes_read',
        'Mailboxes that this process reads by IMAP at the moment.',
        [],
        () => [{ labels: {}, value: keeper.count }],
      );
      return {
        api: undefined,
        deps: { database, sealer, signer, hosts: () => hosts, changed: () => keeper.changed() },
        duties: keeper.duties,
        async close() {
          turns.close();
          await keeper.close();
        },
      };
    },
  }),
};
