import { readFile } from 'node:fs/promises';
import { type CertificateSource, isUsable, type KeyPair } from '../../platform/crypto/certificate-source.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';

/** The paths of a certificate chain and its key. */
type Paths = Readonly<Record<keyof KeyPair, string>>;

/** A certificate in files, which another program renews. */
export class FileCertificate implements CertificateSource {
  #current: KeyPair | null = null;
  #followers: ((pair: KeyPair) => void)[] = [];
  /** The last reason why the files could not be taken, so that it is logged once. */
  #refused: string | null = null;

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

  /**
   * Reads the files, and takes what is new in them. A program that renews them replaces one after the other:
   * until both fit, the pair before stays.
   */
  async look(): Promise<void> {
    const { certificate: path } = this.paths;
    const pair = await this.#read().catch((error: Error) => error.message);
    if (typeof pair === 'string') return this.#refuse(`A file of the certificate cannot be read: ${pair}.`);
    if (isSame(pair, this.#current)) return;
    if (!isUsable(pair))
      return this.#refuse('The certificate in these files is not whole, or does not fit its key.');
    const isRenewed = this.#current !== null;
    for (const follower of this.#followers) follower(pair);
    // A follower that cannot take it has the next look try again.
    this.#current = pair;
    this.#refused = null;
    if (isRenewed) this.logger.info({ path }, 'The SMTP ports use the renewed certificate');
  }

  #refuse(why: string): void {
    if (why === this.#refused) return;
    this.#refused = why;
    this.logger.warn({ path: this.paths.certificate }, `${why} The one before stays.`);
  }

  async #read(): Promise<KeyPair> {
    const { certificate, key } = this.paths;
    return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') };
  }
}

const isSame = (one: KeyPair, other: KeyPair | null): boolean =>
  one.certificate === other?.certificate && one.key === other.key;
