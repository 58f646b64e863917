import { hostname } from 'node:os';
import type { SmtpServer } from '../../transport/inbound/smtp-server.ts';
import { defineModule, offered } from '../module.ts';
import { openInbound } from './open.ts';

/** The SMTP port that receives bounces and complaints. */
export const inboundModule = defineModule<unknown>({
  name: 'inbound',
  open: ({ config, signer, logger, mailReader }) => ({
    connect({ offers }) {
      let server: SmtpServer | null = null;
      return {
        deps: null,
        async start() {
          if (config.inboundSmtpPort === null) return;
          server = await openInbound({
            ...{ host: config.host, name: config.ehloName ?? hostname(), port: config.inboundSmtpPort },
            ...{ signer, logger, mailReader, record: offered(offers, 'recordFeedback') },
          });
        },
        ports: () => ({ inbound: server?.port ?? null }),
        close: () => server?.close(),
      };
    },
  }),
});
