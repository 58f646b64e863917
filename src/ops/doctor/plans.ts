import { leaves } from '../../mail/transport/traits.ts';
import type { Config } from '../../platform/config/config.ts';
import { PLANS } from '../../platform/config/plans.ts';
import type { Database } from '../../platform/db/database.ts';
import { type Diagnosis, fine, skipped, warning } from './diagnosis.ts';

/**
 * Warns of the ceiling of the free plan, which is meant for plans that are sold and stops the mail of an
 * operator who runs this alone.
 */
export async function diagnosePlans(
  database: Database,
  { transport, stripeSecretKey }: Pick<Config, 'transport' | 'stripeSecretKey'>,
): Promise<Diagnosis> {
  const check = 'Plan';
  if (!transport.some(leaves)) return skipped(check, 'No live mail leaves.');
  const [schema] = await database.query<{ there: boolean }>(
    `select to_regclass('workspaces') is not null as there`,
  );
  if (!schema?.there) return skipped(check, 'There is no workspace yet.');
  const free = await database.query<{ id: string }>(
    `select id from workspaces where plan = 'free' and archived_at is null order by id limit 4`,
  );
  if (free.length === 0) return fine(check, 'No workspace is on the free plan.');
  if (stripeSecretKey !== null) return fine(check, 'Plans are sold; the free one is among them.');
  const named = free.slice(0, 3).map(({ id }) => id);
  const { emailsPerMonth, domains } = PLANS.free;
  return warning(
    check,
    `${named.join(', ')}${free.length > named.length ? ' and others' : ''} may send ${emailsPerMonth.toLocaleString('en')} live emails a month from ${domains} domains, under the free plan.`,
    `Lift the ceiling with \`posthorn plan set ${named[0]} unlimited\`, and for new workspaces with DEFAULT_PLAN=unlimited.`,
  );
}
