import { and, eq, gt, isNull, lte, or } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { acmeCertificates } from '../../platform/db/schema/service.ts';

/** The row of a host's certificate. Keys are sealed. */
export type CertificateRow = Readonly<typeof acmeCertificates.$inferSelect>;

/** The fields that the holder of the lease may write. */
export type CertificateChange = Partial<Omit<CertificateRow, 'directoryUrl' | 'host' | 'leasedBy'>>;

const { directoryUrl, host, leasedBy, leasedUntil, nextTryAt } = acmeCertificates;

/** The lease ran out, and another instance may have taken it: the work of this one is not stored. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The one certificate of this service in the database. */
export class CertificateStore {
  /**
   * @param key names the row
   * @param instance an id of this process that no other has
   */
  constructor(
    private readonly database: Database,
    private readonly key: Pick<CertificateRow, 'directoryUrl' | 'host'>,
    private readonly instance: string,
  ) {}

  get #isRow() {
    return and(eq(directoryUrl, this.key.directoryUrl), eq(host, this.key.host));
  }

  /** The row; null before anything was ordered. @throws UnavailableError */
  async read(): Promise<CertificateRow | null> {
    const [row] = await this.database.read((orm) => orm.select().from(acmeCertificates).where(this.#isRow));
    return row ?? null;
  }

  /**
   * Takes the lease from `now` to `until`; null while another instance has it, or a failure has put off the
   * next try.
   * @param horizon later moments count as past
   */
  async lease(now: number, until: number, horizon: number): Promise<CertificateRow | null> {
    await this.database.read((orm) => orm.insert(acmeCertificates).values(this.key).onConflictDoNothing());
    const isPast = (column: typeof leasedUntil | typeof nextTryAt) =>
      or(isNull(column), lte(column, new Date(now)), gt(column, new Date(horizon)));
    const [row] = await this.database.read((orm) =>
      orm
        .update(acmeCertificates)
        .set({ leasedBy: this.instance, leasedUntil: new Date(until) })
        .where(and(this.#isRow, isPast(leasedUntil), isPast(nextTryAt)))
        .returning(),
    );
    return row ?? null;
  }

  /** Writes under the lease. @throws LeaseLost */
  async write(change: CertificateChange): Promise<void> {
    // Drizzle refuses an update without a column.
    const changed = Object.keys(change).length > 0 ? change : { leasedBy: this.instance };
    const rows = await this.database.read((orm) =>
      orm
        .update(acmeCertificates)
        .set(changed)
        .where(and(this.#isRow, eq(leasedBy, this.instance)))
        .returning({ host }),
    );
    if (rows.length === 0) throw new LeaseLost('Another instance has taken over the certificate order.');
  }
}
