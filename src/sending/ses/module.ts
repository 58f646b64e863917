import type { Module } from '../../http/module.ts';
import { createCertificateStore } from '../../mail/transport/ses/certificates.ts';
import { askSns } from '../../mail/transport/ses/sns-requests.ts';
import { type SesCallbackDeps, sesRoutes } from './routes.ts';

/**
 * The notifications of Amazon SES: about email that was sent through it, and with mail that it has received.
 */
export const sesModule: Module<SesCallbackDeps, Pick<SesCallbackDeps, 'recordFeedback' | 'takeSes'>> = {
  name: 'ses',
  pages: sesRoutes,
  open: ({ config, clock, logger }) => ({
    connect: (_, { recordFeedback, takeSes }) => ({
      api: undefined,
      deps: {
        sesTopicArn: config.sesTopicArn,
        inboundTopics: config.sesInboundTopics ?? [],
        fetchCertificate: createCertificateStore({ monotonic: clock.monotonic }),
        confirm: askSns,
        recordFeedback,
        takeSes,
        log: logger,
      },
    }),
  }),
};
