import { mintId } from '../../platform/db/ids.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { Module } from '../module.ts';
import { CertificateKeeper } from './keeper.ts';
import { CertificateStore } from './store.ts';

/** The certificate of HTTPS_PORT, ordered by ACME and renewed with a third of its lifetime left. */
export const certificatesModule: Module<undefined, object, CertificateKeeper | null> = {
  name: 'certificates',
  open: ({ config, database, clock, logger, sealer, metrics, ca }) => ({
    connect() {
      if (config.httpsPort === null || !config.roles.includes('http')) return { api: null, deps: undefined };
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
        api: keeper,
        deps: undefined,
        duties: [
          {
            name: 'certificateKeeper',
            pattern: '20 * * * * *',
            isEverybodys: true,
            isWanted: () => keeper.isWanted,
            run: (stop) => keeper.look(stop),
          },
        ],
        async start() {
          await keeper.load();
        },
      };
    },
  }),
};
