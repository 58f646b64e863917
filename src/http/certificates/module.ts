import type { Duty } from '../../engine/duties/duty.ts';
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

/**
 * The certificate of HTTPS_PORT, ordered by ACME and renewed with a third of its lifetime left, and that of
 * the SMTP ports.
 */
export const certificatesModule: Module<undefined, object, Certificates> = {
  name: 'certificates',
  open: ({ config, database, clock, logger, sealer, metrics, ca }) => ({
    connect() {
      const { submissionTlsCert: certificate, submissionTlsKey: key } = config;
      const files =
        config.opensMailPorts && certificate !== null && key !== null
          ? new FileCertificate({ certificate, key }, logger)
          : null;
      // Opening the ports waits for the first look.
      const look = async () => files?.look();
      const duties: Duty[] = files
        ? [{ name: 'certificateReader', pattern: '40 * * * * *', isEverybodys: true, run: look }]
        : [];
      if (config.httpsPort === null || !config.roles.includes('http'))
        return { api: { https: null, smtp: files }, deps: undefined, duties, start: look };
      const host = new URL(config.publicUrl).hostname;
      const where = { directoryUrl: config.acmeDirectoryUrl, host };
      const keeper = new CertificateKeeper({
        store: new CertificateStore(database, where, mintId('req', clock.now())),
        sealer,
        clock,
        logger,
        order: { ...where, email: config.acmeEmail, ca },
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
          ...duties,
          {
            name: 'certificateKeeper',
            pattern: '20 * * * * *',
            isEverybodys: true,
            isWanted: () => keeper.isWanted,
            run: (stop) => keeper.look(stop),
          },
        ],
        async start() {
          await Promise.all([keeper.load(), look()]);
        },
      };
    },
  }),
};
