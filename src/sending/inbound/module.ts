import { hostname } from 'node:os';
import type { Module } from '../../http/module.ts';
import type { SmtpServer } from '../../mail/inbound/smtp-server.ts';
import type { EmailsApi } from '../emails/api.ts';
import type { InboundRoutesApi } from '../inbound-routes/api.ts';
import type { ReceivedApi } from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';
import { openInbound } from './open.ts';

/** The functions of other modules that received mail needs. */
interface InboundNeeds extends Pick<EmailsApi, 'recordFeedback'>, InboundRoutesApi, ReceivedApi {
  readonly reports: ReportsApi;
}

/** The SMTP port that receives mail, bounces, complaints and aggregate reports. */
export const inboundModule: Module<undefined, InboundNeeds> = {
  name: 'inbound',
  open: ({ config, signer, logger, mailReader, senderChecks }) => ({
    connect(_, { recordFeedback, receivingRoutes, receive, reports }) {
      let server: SmtpServer | null = null;
      return {
        api: undefined,
        deps: undefined,
        async start() {
          if (config.inboundSmtpPort === null) return;
          server = await openInbound({
            ...{ host: config.host, name: config.ehloName ?? hostname(), port: config.inboundSmtpPort },
            ...{
              signer,
              logger,
              mailReader,
              senderChecks,
              record: recordFeedback,
              receivingRoutes,
              receive,
              reports,
            },
          });
        },
        ports: () => ({ inbound: server?.port ?? null }),
        close: () => server?.close(),
      };
    },
  }),
};
