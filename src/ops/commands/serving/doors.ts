import type { Server } from 'bun';
import type { ServedCertificate } from '../../../http/certificates/keeper.ts';
import { type ListenOptions, listen, type SocketSession } from '../../../http/listen/listen.ts';
import { plainPort } from '../../../http/listen/plain-port.ts';
import { openSecureFront, type SecureFront } from '../../../http/listen/secure-front.ts';
import { closeServer } from '../../../platform/async/close-server.ts';
import type { Config } from '../../../platform/config/config.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Service } from '../../../service.ts';

/** The open ports of HTTP. */
export interface Doors {
  /** The address of PORT. */
  readonly origin: string;
  /** Refuses new connections and waits for the requests in flight. */
  close(): Promise<void>;
}

type DoorOptions = Required<Pick<ListenOptions, 'shared' | 'isDraining'>>;
type DoorParts = Pick<Service, 'app' | 'sockets' | 'certificates' | 'clock'>;
type Place = Pick<Config, 'host' | 'port' | 'httpsPort' | 'publicUrl' | 'roles'>;

/** Opens PORT and, once there is a certificate, HTTPS_PORT. @throws when PORT is taken */
export function openDoors(service: DoorParts, config: Place, logger: Logger, opening: DoorOptions): Doors {
  const { app, sockets, certificates, clock } = service;
  const answers = { ...opening, ...(config.roles.includes('http') && { sockets }) };
  const here = { hostname: config.host, port: config.port };
  if (certificates === null || config.httpsPort === null) {
    const server = listen(app, { ...here, ...answers });
    return { origin: server.url.origin, close: () => closeServer(server) };
  }
  const secure = new SecureDoor({ ...config, httpsPort: config.httpsPort }, service, logger, answers);
  const plain = plainPort(app, {
    publicUrl: config.publicUrl.replace(/\/$/, ''),
    answerTo: (token) => certificates.answerTo(token),
    isSecure: () => secure.isOpen,
    now: () => clock.now(),
  });
  const server = listen(plain, { ...here, ...opening });
  certificates.follow((certificate) => secure.serve(certificate));
  certificates.reachable();
  return {
    origin: server.url.origin,
    async close() {
      await Promise.all([closeServer(server), secure.close()]);
    },
  };
}

/** HTTPS_PORT: TLS in front of a server on the loopback, which no other machine can reach. */
class SecureDoor {
  #front: Promise<SecureFront | null> | null = null;
  #inner: Server<SocketSession> | null = null;
  #isOpen = false;

  constructor(
    private readonly place: Place & { readonly httpsPort: number },
    private readonly service: { readonly app: Service['app'] },
    private readonly logger: Logger,
    private readonly answers: Omit<ListenOptions, 'hostname' | 'port'>,
  ) {}

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens the port with the first certificate, and has later connections use a later one. */
  serve(certificate: ServedCertificate): void {
    this.#front = this.#front?.then((front) => this.#use(front, certificate)) ?? this.#open(certificate);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    const front = await this.#front;
    front?.close();
    if (this.#inner) await closeServer(this.#inner);
  }

  #use(
    front: SecureFront | null,
    certificate: ServedCertificate,
  ): SecureFront | null | Promise<SecureFront | null> {
    if (front === null) return this.#open(certificate);
    front.use(certificate);
    return front;
  }

  async #open(pair: ServedCertificate): Promise<SecureFront | null> {
    const { host: hostname, httpsPort: port } = this.place;
    try {
      const front = await openSecureFront({
        hostname,
        port,
        pair,
        shared: this.answers.shared ?? false,
        behind: () => this.#inner?.port ?? 0,
      });
      this.#inner = listen(this.service.app, {
        ...this.answers,
        shared: false,
        hostname: '127.0.0.1',
        port: 0,
        clientOf: (from) => front.clientOf(from),
      });
      this.#isOpen = true;
      this.logger.info({ port: front.port }, 'Serving HTTPS');
      return front;
    } catch (error) {
      this.logger.error({ err: error, port }, 'HTTPS cannot be served: HTTPS_PORT could not be opened.');
      return null;
    }
  }
}
