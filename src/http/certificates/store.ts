import type { Database } from '../../platform/db/database.ts';

/** The row of a host's certificate. Keys are sealed; times are epoch ms. */
export interface CertificateRow {
  readonly account_key: string | null;
  readonly account_url: string | null;
  readonly order_url: string | null;
  readonly order_key: string | null;
  readonly challenge_token: string | null;
  readonly challenge_answer: string | null;
  readonly certificate: string | null;
  readonly certificate_key: string | null;
  readonly not_before: number | null;
  readonly not_after: number | null;
  readonly leased_until: number | null;
  readonly failures: number;
  readonly last_error: string | null;
  readonly next_try_at: number | null;
}

/** The fields that the holder of the lease may write. */
export type CertificateChange = Partial<CertificateRow>;

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8 as ${column}`;
const COLUMNS = `account_key, account_url, order_url, order_key, challenge_token, challenge_answer, certificate,
  certificate_key, failures, last_error, ${['not_before', 'not_after', 'leased_until', 'next_try_at'].map(ms).join(', ')}`;
const TIMES = new Set(['not_before', 'not_after', 'leased_until', 'next_try_at']);

const READ = `select ${COLUMNS} from acme_certificates where directory_url = $1 and host = $2`;
const ENSURE = 'insert into acme_certificates (directory_url, host) values ($1, $2) on conflict do nothing';
/** A free lease goes to the first instance that asks, unless a failure has put off the next try. */
const LEASE = `update acme_certificates set leased_by = $3, leased_until = $5::text::timestamptz
where directory_url = $1 and host = $2 and (leased_until is null or leased_until <= $4::text::timestamptz)
  and (next_try_at is null or next_try_at <= $4::text::timestamptz)
returning ${COLUMNS}`;

const iso = (at: number): string => new Date(at).toISOString();

/** The lease ran out, and another instance may have taken it: what this one has done is not stored. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The one certificate of this service in the database. */
export class CertificateStore {
  readonly #key: readonly [string, string];

  /** @param instance an id of this process that no other has */
  constructor(
    private readonly database: Database,
    { directoryUrl, host }: { readonly directoryUrl: string; readonly host: string },
    private readonly instance: string,
  ) {
    this.#key = [directoryUrl, host];
  }

  /** The row; null before anything was ordered. @throws UnavailableError */
  async read(): Promise<CertificateRow | null> {
    const [row] = await this.database.query<CertificateRow>(READ, [...this.#key]);
    return row ?? null;
  }

  /** Takes the lease from `now` to `until`; null while another instance has it, or the next try is put off. */
  async lease(now: number, until: number): Promise<CertificateRow | null> {
    await this.database.query(ENSURE, [...this.#key]);
    const [row] = await this.database.query<CertificateRow>(LEASE, [
      ...this.#key,
      this.instance,
      iso(now),
      iso(until),
    ]);
    return row ?? null;
  }

  /** Writes under the lease. @throws LeaseLost */
  async write(change: CertificateChange): Promise<void> {
    const entries = Object.entries(change);
    const sets = entries.map(
      ([name], index) => `${name} = $${index + 4}${TIMES.has(name) ? '::text::timestamptz' : ''}`,
    );
    const values = entries.map(([name, value]) =>
      TIMES.has(name) && typeof value === 'number' ? iso(value) : value,
    );
    const [row] = await this.database.query<{ one: number }>(
      `update acme_certificates set ${sets.join(', ')}
       where directory_url = $1 and host = $2 and leased_by = $3 returning 1 as one`,
      [...this.#key, this.instance, ...values],
    );
    if (!row) throw new LeaseLost('Another instance has taken over the certificate order.');
  }
}
