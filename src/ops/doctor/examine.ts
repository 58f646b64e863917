import type { NameServer } from '../../mail/dns/exchange.ts';
import type { Transport } from '../../mail/transport/transport.ts';
import type { BodySettings } from '../../platform/bodies/open.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Database } from '../../platform/db/database.ts';
import { serverUrls } from '../../platform/db/server/server-urls.ts';
import { primaryUrl } from '../../platform/db/server/servers.ts';
import { readClock } from '../../platform/time/database-clock.ts';
import { zones } from '../../platform/zones/zones.ts';
import { diagnoseBodies } from './bodies.ts';
import { diagnoseCertificate } from './certificate.ts';
import { diagnoseConnections } from './database/connections.ts';
import {
  diagnoseClock,
  diagnoseConnection,
  diagnoseLog,
  diagnosePartitions,
  diagnoseSchema,
  diagnoseWrites,
} from './database/database.ts';
import { openExisting } from './database/open-database.ts';
import { diagnosePooler } from './database/pooler.ts';
import { diagnoseReplicas } from './database/replicas.ts';
import { diagnoseReplication } from './database/replication.ts';
import { diagnoseScheduler } from './database/scheduler.ts';
import { type Diagnosis, messageOf, ofFinding, skipped, wrong } from './diagnosis.ts';
import { diagnoseProxy, diagnosePublicUrl, diagnoseSubmission, type Exposure } from './exposure.ts';
import { diagnoseLimits } from './limits.ts';
import {
  diagnoseDisk,
  diagnoseMemory,
  diagnoseNameServers,
  diagnoseOpenFiles,
  diagnoseTimeZones,
} from './machine.ts';
import { diagnoseBalancers } from './mail/balancers.ts';
import { diagnoseReceived } from './mail/received.ts';
import { diagnoseRelays } from './mail/relays.ts';
import { diagnoseSmtpCertificate } from './mail/smtp-certificate.ts';
import { sendTestMessage } from './mail/test-message.ts';
import { diagnoseWays } from './mail/transports.ts';
import { diagnoseWarmUps } from './mail/warm-ups.ts';
import { diagnosePlans } from './plans.ts';
import { diagnoseRoles } from './roles.ts';
import { askService } from './running-service.ts';
import { diagnoseSecretKey, readSealer } from './secret-key.ts';

/** An examination is made of this configuration, with these means. */
export interface Examination {
  readonly config: Exposure &
    BodySettings &
    Pick<
      Config,
      | 'databaseUrl'
      | 'databaseReadUrl'
      | 'dataDir'
      | 'secretKey'
      | 'secretKeyPrevious'
      | 'port'
      | 'dnsServers'
      | 'transport'
      | 'stripeSecretKey'
      | 'smtpFallbackUrl'
      | 'metricsPort'
      | 'acmeDirectoryUrl'
      | 'tlsCaFile'
      | 'inboundSmtpPort'
      | 'smtpTrustProxy'
      | 'ehloName'
      | 'spamassassinUrl'
      | 'rspamdUrl'
      | 'sesInboundTopics'
    >;
  /** The machine's own clock. */
  readonly now: () => number;
  /** The name servers in use: DNS_SERVERS, or the machine's. */
  readonly nameServers: readonly NameServer[];
  /** Opens every enabled transport, the default one first. @throws UnusableSettings */
  openTransports(): Promise<readonly Transport[]>;
  /** The recipient of a test message; null for none. */
  readonly to: string | null;
}

/**
 * Examines everything that email depends on and yields each diagnosis as soon as it is known. Changes
 * nothing.
 */
export async function* examine(examination: Examination): AsyncGenerator<Diagnosis> {
  const { config, nameServers, now: machineNow } = examination;
  const health = await askService(config.host, config.port);
  const opened = await openExisting(config.databaseUrl, config.dataDir, health !== null);
  const database = 'check' in opened ? null : opened;
  try {
    const connection = 'check' in opened ? opened : await diagnoseConnection(opened);
    yield connection;
    const usable = connection.status === 'fine' ? database : null;
    const now = usable ? (await readClock(usable).catch(() => ({ at: machineNow() }))).at : machineNow();
    if (usable) {
      yield* guarded('Writes', () => diagnoseWrites(usable));
      yield* guarded('Failover', () =>
        diagnoseReplication(usable, serverUrls(config.databaseUrl ?? '')?.length ?? 0),
      );
      const { databaseReadUrl } = config;
      if (databaseReadUrl !== null)
        yield* guarded('Read replicas', () => diagnoseReplicas(usable, databaseReadUrl));
      if (usable.kind === 'postgres') {
        const pooler = await primaryUrl(config.databaseUrl ?? '')
          .then((url) => diagnosePooler(usable, url))
          .catch(() => null);
        if (pooler) yield pooler;
        yield* guarded('Connections', () => diagnoseConnections(usable, pooler !== null));
      }
      yield* guarded('Schema', () => diagnoseSchema(usable));
      yield* guarded('Partitions', () => diagnosePartitions(usable, now));
      yield* guarded('Event log', () => diagnoseLog(usable));
      yield* guarded('Clock', () => diagnoseClock(usable, machineNow));
    }
    if (usable) yield* guarded('Roles', () => diagnoseRoles(usable));
    yield* guarded('Scheduler', () => diagnoseScheduler(health, usable, now));
    yield* guarded('Secret key', () => diagnoseSecretKey(config, usable));
    yield* guarded('Disk', () => diagnoseDisk(config.dataDir));
    yield diagnoseMemory();
    yield diagnoseOpenFiles();
    yield diagnoseTimeZones(zones, health?.zonesRelease ?? null);
    yield* await diagnoseNameServers(nameServers, config.dnsServers !== null);
    yield diagnosePublicUrl(config);
    yield diagnoseProxy(config);
    yield diagnoseSubmission(config);
    yield* diagnoseBalancers(config);
    if (config.httpsPort !== null && usable)
      yield* guarded('Certificate', () => diagnoseCertificate(usable, config, now));
    if (usable) yield* guarded('Domains', () => diagnoseWays(usable, config.transport));
    if (usable) yield* guarded('Warm-up', () => diagnoseWarmUps(usable));
    if (usable) yield* diagnoseReceived(config, usable);
    yield* guarded('TLS of received mail', () => diagnoseSmtpCertificate(config, usable, now));
    if (usable) yield* guarded('Plan', () => diagnosePlans(usable, config));
    yield* diagnoseBodies(config, usable);
    if (usable) yield* guarded('Limits of servers', () => diagnoseLimits(usable));
    const relays = await diagnoseRelays(config);
    if (relays) yield relays;
    yield* waysOut(examination, usable);
  } finally {
    await database?.close();
  }
}

async function* waysOut(
  { config, openTransports, to, now }: Examination,
  database: Database | null,
): AsyncGenerator<Diagnosis> {
  let transports: readonly Transport[];
  try {
    transports = await openTransports();
  } catch (error) {
    yield wrong(
      'Transport',
      messageOf(error),
      'Correct the named setting; `posthorn serve --help` explains each.',
    );
    return;
  }
  try {
    for (const transport of transports)
      for (const finding of await transport.verify()) yield ofFinding(finding);
    if (!config.transport.includes('direct'))
      yield skipped('Reverse DNS, port 25', 'They matter only with TRANSPORT=direct.');
    if (to === null) return;
    const sealer = database && (await readSealer(config, database));
    for (const transport of transports) {
      const isDefault = transport === transports[0];
      yield* guarded('Test message', () =>
        sendTestMessage({ to, transport, isDefault, database, sealer, now: now() }),
      );
    }
  } finally {
    await Promise.all(transports.map((transport) => transport.close()));
  }
}

/** A failing check becomes a diagnosis, and the others continue. */
async function* guarded(check: string, look: () => Promise<Diagnosis>): AsyncGenerator<Diagnosis> {
  try {
    yield await look();
  } catch (error) {
    yield wrong(
      check,
      messageOf(error),
      'This could not be checked: correct what the message names, or the findings above.',
    );
  }
}
