import { readFile } from 'node:fs/promises';
import { type CertificateSource, isUsable, type KeyPair } from '../../platform/crypto/certificate-source.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';

/** The paths of a certificate chain and its key. */
type Paths = Readonly<Record<keyof KeyPair, string>>;

/** A certificate in files, which another program renews. */
export class FileCertificate implements CertificateSource {
  #current: KeyPair | null = null;
  #followers: ((pair: KeyPair) => void)[] = [];
  /** The last pair that could not be taken, so that it is logged once. */
  #refused: KeyPair | null = null;

  constructor(
    private readonly paths: Paths,
    private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {}

  get current(): KeyPair | null {
    return this.#current;
  }

  follow(follower: (pair: KeyPair) => void): void {
    this.#followers.push(follower);
    if (this.#current) follower(this.#current);
  }

  /** Reads the files, and takes what is new in them. A program that renews them replaces one after the other: until both fit, the pair before stays. */
  async look(): Promise<void> {
    const { certificate: path } = this.paths;
    const pair = await this.#read();
    if (isSame(pair, this.#current) || isSame(pair, this.#refused)) return;
    if (!isUsable(pair)) {
      this.#refused = pair;
      this.logger.warn(
        { path },
        'The certificate in these files does not fit its key. The one before stays.',
      );
      return;
    }
    const isRenewed = this.#current !== null;
    this.#current = pair;
    this.#refused = null;
    for (const follower of this.#followers) follower(pair);
    if (isRenewed) this.logger.info({ path }, 'The SMTP ports use the renewed certificate');
  }

  async #read(): Promise<KeyPair> {
    const { certificate, key } = this.paths;
    const [chain = '', secret = ''] = await Promise.all(
      [certificate, key].map((path) => readFile(path, 'utf8').catch(() => '')),
    );
    return { certificate: chain, key: secret };
  }
}

const isSame = (one: KeyPair, other: KeyPair | null): boolean =>
  one.certificate === other?.certificate && one.key === other.key;
