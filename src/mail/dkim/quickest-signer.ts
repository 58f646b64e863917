import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { type LibraryKey, openLibcrypto, type SigningLibrary } from './libcrypto.ts';
import { inThisThread, type SignWith } from './sign.ts';
import type { SigningKey } from './signing-key.ts';

/** So many times as fast the library has to be: for less, it is not worth two ways to sign. */
const LEAST_GAIN = 1.25;
/** Turns in which both sign. The quickest of each counts, since others of the machine slow down the rest. */
const TURNS = 5;
/** The least size of a key with which the library gains time. */
const LEAST_BITS = 2_048;
/**
 * Keys that are open at a time, and for how long after the last signature: a thread that ends frees no memory
 * of a library. A key takes 9 kB there, and opening it takes as long as five signatures.
 */
const MOST_OPEN = 1_000;
const OPEN_MS = 5_000;

const TRIAL = Buffer.from('posthorn');
const digestOf = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

/** The surroundings of a signer. */
interface QuickestParts {
  readonly library?: SigningLibrary | null;
  readonly leastGain?: number;
  readonly mostOpen?: number;
  readonly now?: () => number;
}

/**
 * Signs in the thread that calls it, with RSA by the library of the machine where that is quicker: with
 * AVX-512 OpenSSL takes half the time of the BoringSSL in Bun. Signatures of RSA (PKCS #1 v1.5) are the same
 * octets from every library. So each key is tried once, and an answer that differs ends the use of the
 * library.
 */
export class QuickestSigner {
  #library: SigningLibrary | null | undefined;
  #isQuicker = false;
  /** In the order of their last use. */
  readonly #open = new Map<KeyObject, LibraryKey>();
  /** Keys that have passed their trial. */
  readonly #tried = new WeakSet<KeyObject>();
  /** Keys that are left to Bun. */
  readonly #left = new WeakSet<KeyObject>();
  #closing: ReturnType<typeof setTimeout> | undefined;
  readonly #leastGain: number;
  readonly #mostOpen: number;
  readonly #now: () => number;

  constructor({
    library,
    leastGain = LEAST_GAIN,
    mostOpen = MOST_OPEN,
    now = () => performance.now(),
  }: QuickestParts = {}) {
    this.#library = library;
    this.#leastGain = leastGain;
    this.#mostOpen = mostOpen;
    this.#now = now;
  }

  /** The library that signs; null while none does. */
  get library(): string | null {
    return this.#isQuicker ? (this.#library?.name ?? null) : null;
  }

  readonly sign: SignWith = (key, data) => this.#byLibrary(key, data) ?? inThisThread(key, data);

  /** Frees all keys. They are opened again when they are needed. */
  close(): void {
    clearTimeout(this.#closing);
    for (const key of this.#open.values()) key.free();
    this.#open.clear();
  }

  #byLibrary({ algorithm, privateKey }: SigningKey, data: Buffer): Buffer | null {
    if (algorithm !== 'rsa-sha256' || this.#library === null || this.#left.has(privateKey)) return null;
    const opened = this.#open.get(privateKey) ?? this.#opened(privateKey);
    if (opened) this.#use(privateKey, opened);
    const signature = opened?.sign(digestOf(data)) ?? null;
    clearTimeout(this.#closing);
    this.#closing = setTimeout(() => this.close(), OPEN_MS);
    this.#closing.unref();
    if (signature === null && !this.#left.has(privateKey)) this.#giveUp();
    return signature;
  }

  #opened(key: KeyObject): LibraryKey | null {
    if ((createPublicKey(key).asymmetricKeyDetails?.modulusLength ?? 0) < LEAST_BITS) {
      this.#left.add(key);
      return null;
    }
    if (this.#library === undefined) this.#library = openLibcrypto();
    const der = key.export({ type: 'pkcs1', format: 'der' });
    const opened = this.#library?.open(der) ?? null;
    der.fill(0);
    if (opened === null) {
      this.#left.add(key);
      return null;
    }
    if (!this.#tried.has(key) && !this.#isTrusted(key, opened)) {
      opened.free();
      return null;
    }
    this.#tried.add(key);
    return opened;
  }

  /** Makes it the last key to be closed; where too many are open, the one that was used longest ago is. */
  #use(key: KeyObject, opened: LibraryKey): void {
    this.#open.delete(key);
    this.#open.set(key, opened);
    for (const [oldest, { free }] of this.#open) {
      if (this.#open.size <= this.#mostOpen) return;
      this.#open.delete(oldest);
      free();
    }
  }

  /** True of a key with which the library signs as Bun does, and more quickly. */
  #isTrusted(key: KeyObject, opened: LibraryKey): boolean {
    const digest = digestOf(TRIAL);
    const bun = () => sign('sha256', TRIAL, key);
    if (!opened.sign(digest)?.equals(bun())) return false;
    if (this.#isQuicker) return true;
    let [own, library] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let turn = 0; turn < TURNS; turn++) {
      own = Math.min(own, this.#timeOf(bun));
      library = Math.min(
        library,
        this.#timeOf(() => opened.sign(digest)),
      );
    }
    this.#isQuicker = own >= this.#leastGain * library;
    return this.#isQuicker;
  }

  #timeOf(act: () => unknown): number {
    const begun = this.#now();
    act();
    return this.#now() - begun;
  }

  #giveUp(): void {
    this.close();
    this.#library = null;
    this.#isQuicker = false;
  }
}
