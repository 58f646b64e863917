import { createCertificateStore } from '../../transport/ses/certificates.ts';
import { askSns } from '../../transport/ses/sns-requests.ts';
import { defineModule, offered } from '../module.ts';
import { type SesCallbackDeps, sesRoutes } from './routes.ts';

/** The notifications of Amazon SES about email that was sent through it. */
export const sesModule = defineModule<SesCallbackDeps>({
  name: 'ses',
  pages: sesRoutes,
  open: ({ config, clock, logger }) => ({
    connect: ({ offers }) => ({
      deps: {
        sesTopicArn: config.sesTopicArn,
        fetchCertificate: createCertificateStore({ monotonic: clock.monotonic }),
        confirm: askSns,
        recordFeedback: offered(offers, 'recordFeedback'),
        log: logger,
      },
    }),
  }),
});
