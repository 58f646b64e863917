import { createCertificateStore } from '../../transport/ses/certificates.ts';
import { askSns } from '../../transport/ses/sns-requests.ts';
import { defineModule, offered } from '../module.ts';
import { type SesCallbackDeps, sesRoutes } from './routes.ts';

/** What Amazon SES reports of email that left through it. */
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
