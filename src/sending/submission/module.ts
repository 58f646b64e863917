import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Module } from '../../http/module.ts';
import type { SmtpServer } from '../../mail/inbound/smtp-server.ts';
import type { Config } from '../../platform/config/config.ts';
import type { EmailsApi } from '../emails/api.ts';
import { openSubmission } from './open.ts';

/** The SMTP ports for applications whose framework sends mail by SMTP. */
export const submissionModule: Module<undefined, Pick<EmailsApi, 'acceptance' | 'mailRoom'>> = {
  name: 'submission',
  open: ({ config, clock, logger, mailReader, admission }) => ({
    connect(_, { acceptance, mailRoom }) {
      const servers: Record<'submission' | 'submissionTls', SmtpServer | null> = {
        submission: null,
        submissionTls: null,
      };
      return {
        api: undefined,
        deps: undefined,
        async start() {
          const { submissionPort, submissionTlsPort } = config;
          const shared = {
            ...{ host: config.host, name: config.ehloName ?? hostname(), tls: await certificateOf(config) },
            ...{ ...admission, clock, logger, mailReader, mailRoom, emails: acceptance },
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

/** Reads the certificate of the ports; null when they accept mail without TLS. */
async function certificateOf({ submissionTlsCert, submissionTlsKey }: Config) {
  if (submissionTlsCert === null || submissionTlsKey === null) return null;
  const [cert, key] = await Promise.all(
    [submissionTlsCert, submissionTlsKey].map((path) => readFile(path, 'utf8')),
  );
  return { cert: cert as string, key: key as string };
}
