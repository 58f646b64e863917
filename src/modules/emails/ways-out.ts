import { readFile } from 'node:fs/promises';
import type { CapturedMessage } from '../../transport/capture.ts';
import type { NameServer } from '../../transport/dns/exchange.ts';
import { createResolver, systemNameServers } from '../../transport/dns/resolver.ts';
import type { Transport } from '../../transport/transport.ts';
import { type TransportSettings, Transports } from '../../transport/transports.ts';

/** What the ways out are opened with. */
export interface WaysOutParts {
  readonly config: TransportSettings & {
    readonly dnsServers: readonly NameServer[] | null;
    readonly tlsCaFile: string | null;
  };
  readonly monotonic: () => number;
  readonly hostName: string;
  keep(captured: CapturedMessage): Promise<void>;
}

/** The ways that mail leaves by. */
export interface WaysOut {
  /** The one of that name, or the default one. */
  transport(name: Transport['name'] | null): Transport;
  close(): Promise<void>;
}

/** Opens every way that is enabled. @throws UnusableSettings when it cannot be */
export async function openWaysOut({ config, monotonic, hostName, keep }: WaysOutParts): Promise<WaysOut> {
  const furtherCa = config.tlsCaFile === null ? null : await readFile(config.tlsCaFile, 'utf8');
  const resolver = createResolver(config.dnsServers ?? systemNameServers());
  const means = { resolver, monotonic, random: Math.random, hostName, furtherCa, keep };
  const transports = new Transports(config, means);
  const [chosen] = transports.enabled as readonly [Transport, ...Transport[]];
  return {
    transport: (name) => (name === null ? chosen : transports.named(name)),
    close: () => transports.close(),
  };
}
