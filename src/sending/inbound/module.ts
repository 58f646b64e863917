import { hostname } from 'node:os';
import type { Module } from '../../http/module.ts';
import type { SmtpServer } from '../../mail/inbound/smtp-server.ts';
import type { EmailsApi } from '../emails/api.ts';
import type { InboundRoutesApi } from '../inbound-routes/api.ts';
import type { ReceivedApi } from '../received/api.ts';
import { openInbound } from './open.ts';

type InboundNeeds = Pick<EmailsApi, 'recordFeedback'> & InboundRoutesApi & ReceivedApi;

/** The SMTP port that receives mail, bounces and complaints. */
export const inboundModule: Module<undefined, InboundNeeds> = {
  name: 'inbound',
  open: ({ config, signer, logger, mailReader }) => ({
    connect(_, { recordFeedback, receivingRoutes, receive }) {
      let server: SmtpServer | null = null;
      return {
        api: undefined,
        deps: undefined,
        async start() {
          if (config.inboundSmtpPort === null) return;
          server = await openInbound({
            ...{ host: config.host, name: config.ehloName ?? hostname(), port: config.inboundSmtpPort },
            ...{ signer, logger, mailReader, record: recordFeedback, receivingRoutes, receive },
          });
        },
        ports: () => ({ inbound: server?.port ?? null }),
        close: () => server?.close(),
      };
    },
  }),
};
