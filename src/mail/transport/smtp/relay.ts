import { withDeadline } from '../../../platform/async/deadline.ts';
import { beginOnce } from '../begin.ts';
import type { SiteLimits } from '../limits/site-limits.ts';
import type { Part } from '../part.ts';
import type { Finding, OutboundMessage, RecipientOutcome, SendLimits, Transport } from '../transport.ts';
import type { Endpoint } from './endpoint.ts';
import type { PoolLimits, PoolParts } from './held-sessions.ts';
import { openSession, SessionFailure } from './session.ts';
import { SessionPool } from './session-pool.ts';
import { mailOf, transmit } from './transmit.ts';

/**
 * A session is idle while the beginning of its next email becomes durable, so that ten of them left the
 * processor a third of its time (measured: 0.73 to 0.87 of the rate with twenty). Postfix opens as many to
 * one destination, and takes fifty of one client. All processes together have as many.
 */
const RELAY_LIMITS: PoolLimits = { sessions: 20, messagesPerSession: 1_000, idleMs: 30_000 };

/**
 * Sends all mail through one relay, which is responsible for accepted messages: bounces come back later, by
 * mail.
 */
export class RelayTransport implements Transport {
  readonly name = 'smtp';
  readonly confirmsDelivery = false;
  readonly #pool: SessionPool;
  readonly #site: SiteLimits;

  constructor(
    private readonly endpoint: Endpoint & { readonly setting?: string },
    parts: PoolParts,
    limits: PoolLimits = RELAY_LIMITS,
  ) {
    this.#site = parts.site;
    this.#pool = new SessionPool((signal) => openSession(endpoint, signal), limits, parts);
  }

  send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    return withDeadline(limits, async (signal) => {
      const mail = await mailOf(message);
      return transmit(mail, this.#pool, this.#site, this.endpoint.name, signal, beginOnce(limits));
    });
  }

  async verify(): Promise<readonly Finding[]> {
    const { name, port } = this.endpoint;
    const check = `SMTP relay ${name}:${port}`;
    try {
      const session = await openSession(this.endpoint, AbortSignal.timeout(2 * this.endpoint.connectMs));
      session.quit();
      const how = `${session.secure ? 'with TLS' : 'in clear text'}, ${this.endpoint.credentials ? 'signed in' : 'without a password'}`;
      return [{ check, ok: true, detail: `Connected ${how}.`, advice: null }];
    } catch (error) {
      if (!(error instanceof SessionFailure)) throw error;
      return [
        {
          check,
          ok: false,
          detail: error.reply ?? error.message,
          advice: ADVICE[error.stage](this.endpoint.setting ?? 'SMTP_URL'),
        },
      ];
    }
  }

  keepTo(part: Part): void {
    this.#pool.keepTo(part);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

const ADVICE: Readonly<Record<SessionFailure['stage'], (setting: string) => string>> = {
  connect: (setting) =>
    `Check host and port in ${setting}, and that a firewall lets this machine reach them.`,
  tls: (setting) =>
    `The relay does not speak TLS as ${setting} asks, or its certificate is not trusted: TLS_CA_FILE names further authorities.`,
  refused: (setting) =>
    `The relay answered and refused: check user name and password in ${setting}, and what the relay allows this machine.`,
  aborted: () => 'The relay took too long to answer; try again, or use another one.',
};
