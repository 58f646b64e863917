import { hostname } from 'node:os';
import type { Module } from '../../http/module.ts';
import { brokenConnections } from '../../mail/inbound/port/broken-connections.ts';
import type { SmtpServer } from '../../mail/inbound/smtp-server.ts';
import { isWithinRanges } from '../../platform/config/client-address.ts';
import type { CertificateSource } from '../../platform/crypto/certificate-source.ts';
import type { EmailsApi } from '../emails/api.ts';
import { openSubmission, refusalLog } from './open.ts';

interface SubmissionNeeds extends Pick<EmailsApi, 'acceptance' | 'mailRoom'> {
  /** Null where passwords are taken in clear text. */
  readonly certificate: CertificateSource | null;
}

/** The SMTP ports for applications whose framework sends mail by SMTP. */
export const submissionModule: Module<undefined, SubmissionNeeds> = {
  name: 'submission',
  open: ({ config, clock, logger, mailReader, admission, metrics }) => ({
    connect(_, { acceptance, mailRoom, certificate }) {
      const servers: Record<'submission' | 'submissionTls', SmtpServer | null> = {
        submission: null,
        submissionTls: null,
      };
      return {
        api: undefined,
        deps: undefined,
        async start() {
          const { submissionPort, submissionTlsPort, opensMailPorts } = config;
          if (!opensMailPorts) return;
          const shared = {
            host: config.host,
            name: config.ehloName ?? hostname(),
            tls: certificate,
            isProxy: isWithinRanges(config.smtpTrustProxy),
            onError: brokenConnections('submission', { logger, monotonic: clock.monotonic, metrics }),
            ...admission,
            clock,
            mailReader,
            mailRoom,
            emails: acceptance,
            onRefusal: refusalLog(logger, clock.monotonic),
          };
          if (submissionPort !== null)
            servers.submission = await openSubmission({ ...shared, port: submissionPort });
          if (submissionTlsPort !== null)
            servers.submissionTls = await openSubmission({
              ...shared,
              port: submissionTlsPort,
              implicitTls: true,
            });
        },
        ports: () => ({
          submission: servers.submission?.port ?? null,
          submissionTls: servers.submissionTls?.port ?? null,
        }),
        async close() {
          const { submission, submissionTls } = servers;
          await Promise.all([submission?.close(), submissionTls?.close()]);
        },
      };
    },
  }),
};
