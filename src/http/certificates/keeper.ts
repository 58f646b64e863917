import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyPair } from '../../platform/crypto/certificate-source.ts';
import { openOrNull, type Sealer } from '../../platform/crypto/sealer.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { type Clock, DAY_MS } from '../../platform/time/clock.ts';
import { AcmeRefusal, inOneLine } from './acme-client.ts';
import { type OrderProgress, type OrderRequest, obtain } from './authority.ts';
import { putOffMs, renewalOf, type Validity } from './renewal.ts';
import { type CertificateChange, type CertificateRow, type CertificateStore, LeaseLost } from './store.ts';

/** A certificate chain with its key in PEM, and its period of validity. */
export interface ServedCertificate extends KeyPair, Validity {}

export interface KeeperParts {
  readonly store: CertificateStore;
  readonly sealer: Sealer;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly order: Pick<OrderRequest, 'directoryUrl' | 'host' | 'email' | 'ca'>;
  readonly waits?: OrderRequest['waits'];
}

/** The time limit of an order; the lease is longer. */
const ORDER_MS = 4 * 60_000;
const LEASE_MS = 5 * 60_000;
/**
 * The longest wait that an authority can ask for. A stored moment beyond it was written by a clock that was
 * wrong.
 */
const LONGEST_WAIT_MS = 7 * DAY_MS;
/**
 * One read of the row answers the challenges of this time, so that public requests cost at most two reads a
 * second.
 */
const CHALLENGE_AGE_MS = 500;
const WAITS = { pollMs: 1_000, settleMs: 2 * CHALLENGE_AGE_MS };
const LONGEST_ERROR = 500;

const PURPOSES = {
  accountKey: 'acme-account',
  orderKey: 'acme-order',
  certificateKey: 'acme-certificate',
} as const;

/**
 * Keeps the certificate of this service: loads the stored one, orders a new one when it is due, and passes it
 * to its servers.
 */
export class CertificateKeeper {
  #current: ServedCertificate | null = null;
  #followers: ((certificate: ServedCertificate) => void)[] = [];
  #challenge: { readonly at: number; readonly row: Promise<CertificateRow | null> } | null = null;
  #isReachable = false;
  #isWanted = false;
  #failures = 0;

  constructor(private readonly parts: KeeperParts) {}

  /** The certificate to serve; null until the first one is there. */
  get current(): ServedCertificate | null {
    return this.#current;
  }

  /** Failed tries since the last certificate. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * True until the first look after the port was opened, so that an order need not wait for the next minute.
   */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Calls with the current certificate, if there is one, and with every later one. */
  follow(follower: (certificate: ServedCertificate) => void): void {
    this.#followers.push(follower);
    if (this.#current) follower(this.#current);
  }

  /** Enables orders, because challenges are answered from now on. */
  reachable(): void {
    this.#isReachable = true;
    this.#isWanted = true;
  }

  /**
   * The answer to a challenge, for any instance that the authority's request may reach; null for an unknown
   * token.
   */
  async answerTo(token: string): Promise<string | null> {
    const now = performance.now();
    if (this.#challenge === null || now - this.#challenge.at > CHALLENGE_AGE_MS)
      this.#challenge = { at: now, row: this.parts.store.read() };
    const row = await this.#challenge.row;
    return row !== null && row.challengeToken === token ? row.challengeAnswer : null;
  }

  /** Takes the certificate that is stored. @throws UnavailableError */
  async load(): Promise<CertificateRow | null> {
    const row = await this.parts.store.read();
    if (row) this.#adopt(row);
    return row;
  }

  /**
   * Looks once: loads the stored certificate, and orders a new one when it is due and no other instance does.
   */
  async look(stop: AbortSignal = new AbortController().signal): Promise<void> {
    this.#isWanted = false;
    const { store, clock } = this.parts;
    const row = await this.load();
    const now = clock.now();
    if (!this.#isReachable || !this.#isDue(now)) return;
    const horizon = now + LONGEST_WAIT_MS;
    const isAhead = (moment: Date | null | undefined) => Number(moment) > now && Number(moment) <= horizon;
    if (isAhead(row?.nextTryAt) || isAhead(row?.leasedUntil)) return;
    const leased = await store.lease(now, now + LEASE_MS, horizon);
    if (leased) await this.#order(leased, AbortSignal.any([stop, AbortSignal.timeout(ORDER_MS)]), stop);
  }

  #isDue(now: number): boolean {
    return this.#current === null || now >= renewalOf(this.#current);
  }

  async #order(row: CertificateRow, signal: AbortSignal, stop: AbortSignal): Promise<void> {
    const { store, logger, order, clock } = this.parts;
    // Another instance may have finished between the look and the lease.
    this.#adopt(row);
    if (!this.#isDue(clock.now())) return store.write({ leasedUntil: null });
    logger.info({ host: order.host, directory: order.directoryUrl }, 'Ordering a certificate');
    try {
      const { certificate, key } = await obtain({
        ...order,
        state: {
          accountKey: this.#open(row, 'accountKey'),
          accountUrl: row.accountUrl,
          orderUrl: row.orderUrl,
          orderKey: this.#open(row, 'orderKey'),
        },
        save: (progress) => this.#save(progress),
        signal,
        waits: this.parts.waits ?? WAITS,
      });
      const served = checked(certificate, key, order.host, clock.now());
      await store.write({
        certificate,
        notBefore: new Date(served.notBefore),
        notAfter: new Date(served.notAfter),
        certificateKey: this.#seal(key, 'certificateKey'),
        orderUrl: null,
        orderKey: null,
        challengeToken: null,
        challengeAnswer: null,
        failures: 0,
        lastError: null,
        nextTryAt: null,
        leasedUntil: null,
      });
      await this.load();
      const days = Math.floor((served.notAfter - clock.now()) / DAY_MS);
      logger.info({ host: order.host, days }, 'The certificate is ready');
    } catch (error) {
      if (error instanceof LeaseLost) logger.warn({ err: error }, error.message);
      else if (stop.aborted) await store.write({ leasedUntil: null });
      else await this.#failed(row.failures + 1, error);
    }
  }

  async #failed(failures: number, error: unknown): Promise<void> {
    const { store, logger, order, clock } = this.parts;
    const askedMs = error instanceof AcmeRefusal ? error.retryAfterMs : 0;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(putOffMs(failures), askedMs));
    const message = inOneLine(error instanceof Error ? error.message : String(error), LONGEST_ERROR);
    const next = new Date(clock.now() + waitMs);
    this.#failures = failures;
    // The account is requested again by its key, because an authority may have forgotten it.
    await store.write({
      failures,
      lastError: message,
      nextTryAt: next,
      leasedUntil: null,
      accountUrl: null,
    });
    logger.warn(
      { host: order.host, failures, nextTryAt: next.toISOString(), reason: message },
      this.#current
        ? 'The certificate could not be renewed. The current one stays in use.'
        : 'No certificate could be ordered. HTTPS is not served until one is available.',
    );
  }

  async #save({ challenge, accountKey, orderKey, accountUrl, orderUrl }: OrderProgress): Promise<void> {
    const change: CertificateChange = {
      ...(accountKey !== undefined && { accountKey: accountKey && this.#seal(accountKey, 'accountKey') }),
      ...(orderKey !== undefined && { orderKey: orderKey && this.#seal(orderKey, 'orderKey') }),
      ...(accountUrl !== undefined && { accountUrl }),
      ...(orderUrl !== undefined && { orderUrl }),
      ...(challenge && { challengeToken: challenge.token, challengeAnswer: challenge.answer }),
    };
    await this.parts.store.write(change);
    if (challenge) this.#challenge = null;
  }

  #seal(text: string, column: keyof typeof PURPOSES): string {
    return this.parts.sealer.seal(text, PURPOSES[column]);
  }

  /** A value that was sealed with a lost key counts as missing, and is ordered again. */
  #open(row: CertificateRow, column: keyof typeof PURPOSES): string | null {
    const sealed = row[column];
    return sealed === null ? null : openOrNull(this.parts.sealer, sealed, PURPOSES[column]);
  }

  #adopt(row: CertificateRow): void {
    this.#failures = row.failures;
    const key = this.#open(row, 'certificateKey');
    const { certificate, notBefore, notAfter } = row;
    if (key === null || certificate === null || notBefore === null || notAfter === null) return;
    if (this.#current?.certificate === certificate) return;
    const current = { certificate, key, notBefore: notBefore.getTime(), notAfter: notAfter.getTime() };
    this.#current = current;
    for (const follower of this.#followers) follower(current);
  }
}

/** The certificate with its dates. @throws when it is for another host or key, or has expired */
function checked(certificate: string, key: string, host: string, now: number): ServedCertificate {
  const leaf = new X509Certificate(certificate);
  const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  if (!leaf.checkPrivateKey(createPrivateKey(key)) || leaf.checkHost(host) === undefined || notAfter <= now)
    throw new Error('The authority issued a certificate for another host or key, or an expired one.');
  return { certificate, key, notBefore, notAfter };
}
