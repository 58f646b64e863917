import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { ask, type NameServer } from '../../mail/dns/exchange.ts';
import { FITTING_MEMORY, messageMemory } from '../../platform/config/message-memory.ts';
import { SYSTEM_FOLDER } from '../../platform/zones/system.ts';
import type { Zones } from '../../platform/zones/zones.ts';
import { type Diagnosis, fine, messageOf, skipped, warning, wrong } from './diagnosis.ts';

const MIB = 1_048_576;
const GIB = 1_024 * MIB;
const DNS_PATIENCE_MS = 3_000;

/** Checks that every name server answers. One that does not costs each lookup a timeout. */
export async function diagnoseNameServers(
  servers: readonly NameServer[],
  areConfigured: boolean,
): Promise<readonly Diagnosis[]> {
  const advice = areConfigured
    ? 'Check DNS_SERVERS, and that a firewall lets this machine ask over UDP.'
    : 'Check /etc/resolv.conf, or set DNS_SERVERS.';
  if (servers.length === 0) return [wrong('Name server', 'None is configured.', 'Set DNS_SERVERS.')];
  return Promise.all(
    servers.map(async (server) => {
      const check = `Name server ${server.address}`;
      const begin = performance.now();
      try {
        await ask(server, { name: 'example.com', type: 'A' }, DNS_PATIENCE_MS);
        return fine(check, `Answers in ${Math.round(performance.now() - begin)} ms.`);
      } catch (error) {
        return wrong(check, `Port ${server.port}: ${messageOf(error)}`, advice);
      }
    }),
  );
}

/** Checks that the data directory has room. */
export async function diagnoseDisk(dataDir: string): Promise<Diagnosis> {
  const check = 'Disk';
  try {
    const { bavail, bsize, blocks } = await statfs(dataDir);
    const free = bavail * bsize;
    const share = blocks === 0 ? 1 : bavail / blocks;
    const detail = `${(free / GIB).toFixed(1)} GiB (${Math.round(share * 100)} %) free in ${dataDir}.`;
    return free < GIB
      ? wrong(check, detail, 'Make room: a full disk stops everything that must be durable.')
      : fine(check, detail);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return skipped(check, `${dataDir} does not exist yet; the first start makes it.`);
    return wrong(check, messageOf(error), 'Check that DATA_DIR is right and readable.');
  }
}

/** Tells the memory that this machine, container or unit may use, and the part of it for large messages. */
export function diagnoseMemory(octets = process.constrainedMemory()): Diagnosis {
  const check = 'Memory';
  const { requests, submitted } = messageMemory(octets);
  const [forRequests, forMail] = [requests, submitted].map(({ total }) => Math.floor(total / MIB));
  const detail = `${(octets / GIB).toFixed(1)} GiB, of which ${forRequests} MiB take bodies of requests that arrive at once, and ${forMail} MiB messages by SMTP.`;
  return octets < FITTING_MEMORY
    ? warning(
        check,
        detail,
        'Give it 1 GiB, or let no large messages come by several ways at once: they may end it.',
      )
    : fine(check, detail);
}

/**
 * Fewer are used up by clients that keep their connections: then requests wait, since no connection can be
 * accepted.
 */
const ENOUGH_FILES = 1_024;

/** Tells how many files and connections a process may have open, from its limits (proc_pid_limits). */
export function diagnoseOpenFiles(limits = limitsOfProcess()): Diagnosis {
  const check = 'Open files';
  const [, written] = /^Max open files +(\d+|unlimited) /m.exec(limits ?? '') ?? [];
  if (written === undefined) return skipped(check, 'This system does not tell the limit.');
  const files = written === 'unlimited' ? Number.POSITIVE_INFINITY : Number(written);
  const detail = `${files === Number.POSITIVE_INFINITY ? 'Any number' : files.toLocaleString('en')} at once, each connection one of them.`;
  return files < ENOUGH_FILES
    ? warning(
        check,
        detail,
        `Allow ${ENOUGH_FILES.toLocaleString('en')} or more (LimitNOFILE of the unit, --ulimit nofile of the container, ulimit -n): else requests wait while clients hold all of them.`,
      )
    : fine(check, detail);
}

function limitsOfProcess(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return null;
  }
}

/** Tells which rules of time zones count here, and whether the running service has them. */
export function diagnoseTimeZones(
  { release, source, systemRelease }: Pick<Zones, 'release' | 'source' | 'systemRelease'>,
  running: string | null,
): Diagnosis {
  const check = 'Time zones';
  const others =
    systemRelease === null ? 'the release of this machine is unknown' : `this machine has ${systemRelease}`;
  const detail =
    source === 'system'
      ? `Release ${release} of the IANA database, from ${SYSTEM_FOLDER}, which is newer than that of this executable.`
      : `Release ${release} of the IANA database, in this executable; ${others}.`;
  return running === null || running >= release
    ? fine(check, detail)
    : warning(check, `${detail} The running service goes by ${running}.`, 'Restart the service.');
}
