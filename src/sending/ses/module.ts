import type { Module } from '../../http/module.ts';
import { createCertificateStore } from '../../mail/transport/ses/certificates.ts';
import { askSns } from '../../mail/transport/ses/sns-requests.ts';
import { type SesCallbackDeps, sesRoutes } from './routes.ts';

/** The notifications of Amazon SES about email that was sent through it. */
export const sesModule: Module<SesCallbackDeps, Pick<SesCallbackDeps, 'recordFeedback'>> = {
  name: 'ses',
  pages: sesRoutes,
  open: ({ config, clock, logger }) => ({
    connect: (_, { recordFeedback }) => ({
      api: undefined,
      deps: {
        sesTopicArn: config.sesTopicArn,
        fetchCertificate: createCertificateStore({ monotonic: clock.monotonic }),
        confirm: askSns,
        recordFeedback,
        log: logger,
      },
    }),
  }),
};
