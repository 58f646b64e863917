import type { CertificateSource } from '../../platform/crypto/certificate-source.ts';
import { mintId } from '../../platform/db/ids.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { Module } from '../module.ts';
import { FileCertificate } from './file-certificate.ts';
import { CertificateKeeper } from './keeper.ts';
import { CertificateStore } from './store.ts';

/** The certificates of this service. */
interface Certificates {
  /** That of HTTPS_PORT; null without that port. */
  readonly https: CertificateKeeper | null;
  /** That of the SMTP ports: in files, else that of HTTPS_PORT; null where there is neither. */
  readonly smtp: CertificateSource | null;
}

/** The certificate of HTTPS_PORT, ordered by ACME and renewed with a third of its lifetime left, and that of the SMTP ports. */
export const certificatesModule: Module<undefined, object, Certificates> = {
  name: 'certificates',
  open: ({ config, database, clock, logger, sealer, metrics, ca }) => ({
    connect() {
      const { submissionTlsCert: certificate, submissionTlsKey: key } = config;
      const files =
        certificate === null || key === null ? null : new FileCertificate({ certificate, key }, logger);
      const reading = files && {
        // Opening the ports waits for it.
        start: () => files.look(),
        duty: {
          ...{ name: 'certificateReader', pattern: '40 * * * * *', isEverybodys: true },
          run: () => files.look(),
        },
      };
      if (config.httpsPort === null || !config.roles.includes('http'))
        return {
          ...{ api: { https: null, smtp: files }, deps: undefined },
          ...(reading && { duties: [reading.duty], start: reading.start }),
        };
      const host = new URL(config.publicUrl).hostname;
      const where = { directoryUrl: config.acmeDirectoryUrl, host };
      const keeper = new CertificateKeeper({
        store: new CertificateStore(database, where, mintId('req', clock.now())),
        ...{ sealer, clock, logger, order: { ...where, email: config.acmeEmail, ca } },
      });
      metrics?.watch(
        'posthorn_certificate_days_left',
        'Days until the certificate of HTTPS_PORT expires; absent before the first certificate.',
        [],
        () => {
          const { current } = keeper;
          return current ? [{ labels: {}, value: (current.notAfter - clock.now()) / DAY_MS }] : [];
        },
      );
      metrics?.watch(
        'posthorn_certificate_failures',
        'Failed tries to order a certificate since the last success.',
        [],
        () => [{ labels: {}, value: keeper.failures }],
      );
      return {
        api: { https: keeper, smtp: files ?? keeper },
        deps: undefined,
        duties: [
          ...(reading ? [reading.duty] : []),
          {
            name: 'certificateKeeper',
            pattern: '20 * * * * *',
            isEverybodys: true,
            isWanted: () => keeper.isWanted,
            run: (stop) => keeper.look(stop),
          },
        ],
        async start() {
          await Promise.all([keeper.load(), reading?.start()]);
        },
      };
    },
  }),
};
