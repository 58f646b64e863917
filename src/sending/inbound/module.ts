import { hostname } from 'node:os';
import type { Module } from '../../http/module.ts';
import { brokenConnections } from '../../mail/inbound/port/broken-connections.ts';
import type { SmtpServer } from '../../mail/inbound/smtp-server.ts';
import { ReceivedObjects } from '../../mail/transport/ses/received-objects.ts';
import { readBucketAddress } from '../../platform/bodies/address.ts';
import { isWithinRanges } from '../../platform/config/client-address.ts';
import type { Config } from '../../platform/config/config.ts';
import type { CertificateSource } from '../../platform/crypto/certificate-source.ts';
import type { EmailsApi } from '../emails/api.ts';
import type { InboundRoutesApi } from '../inbound-routes/api.ts';
import type { ReceivedApi } from '../received/api.ts';
import type { ReportsApi } from '../reports/api.ts';
import type { InboundApi } from './api.ts';
import type { LeaveByMail } from './commands.ts';
import { openInbound } from './open.ts';
import { takeSes } from './ses-door.ts';

/** The functions of other modules that received mail needs. */
interface InboundNeeds
  extends Pick<EmailsApi, 'recordFeedback'>,
    Pick<InboundRoutesApi, 'receivingRoutes'>,
    ReceivedApi {
  readonly reports: ReportsApi;
  readonly leaveByMail: LeaveByMail;
  /** Null where STARTTLS is not offered. */
  readonly certificate: CertificateSource | null;
}

/**
 * The SMTP port that receives mail, bounces, complaints and aggregate reports; and what Amazon SES receives.
 */
export const inboundModule: Module<undefined, InboundNeeds, InboundApi> = {
  name: 'inbound',
  open: ({ database, config, clock, signer, logger, mailReader, senderChecks, spamFilter, metrics, ca }) => ({
    connect(_, { recordFeedback, receivingRoutes, receive, reports, leaveByMail, certificate }) {
      let server: SmtpServer | null = null;
      const name = config.ehloName ?? hostname();
      const shared = {
        signer,
        now: clock.now,
        mailReader,
        receivingRoutes,
        receive,
        reports,
        spamFilter,
        leaveByMail,
        count: (end: 'taken' | 'spam' | 'loop' | 'later') => metrics?.received(end),
      };
      const objects = receivedObjects(config, { ca, now: clock.now });
      return {
        api: {
          takeSes: (message, topic) =>
            takeSes({ ...shared, logger, recordFeedback, objects }, message, topic),
        },
        deps: undefined,
        async start() {
          if (config.inboundSmtpPort === null || !config.opensMailPorts) return;
          senderChecks.keepOne();
          server = await openInbound({
            ...shared,
            database,
            host: config.host,
            name,
            port: config.inboundSmtpPort,
            tls: certificate,
            isProxy: isWithinRanges(config.smtpTrustProxy),
            senderChecks,
            record: recordFeedback,
            onError: brokenConnections('inbound', { logger, monotonic: clock.monotonic, metrics }),
          });
        },
        ports: () => ({ inbound: server?.port ?? null }),
        close: () => server?.close(),
      };
    },
  }),
};

/** The bucket in which SES stores messages; null where none is configured. */
function receivedObjects(
  { sesInboundBucket, sesInboundEndpoint, awsAccessKeyId, awsSecretAccessKey }: Config,
  more: { readonly ca: string | null; readonly now: () => number },
): ReceivedObjects | null {
  const address = sesInboundBucket === null ? null : readBucketAddress(sesInboundBucket);
  if (!address || awsAccessKeyId === null || awsSecretAccessKey === null) return null;
  const key = { accessKeyId: awsAccessKeyId, secretAccessKey: awsSecretAccessKey };
  return new ReceivedObjects({ address, endpoint: sesInboundEndpoint, ...key, ...more });
}
