import { eq } from 'drizzle-orm';
import type { DomainState } from '../../../../machines/domain/machine.ts';
import type { Warning } from '../../../accounts/service-emails.ts';
import { domains } from '../../../platform/db/schema/domains.ts';
import { domainKind } from '../kind.ts';

/** True for the states in which a domain may send. */
const SENDS: Readonly<Record<DomainState, boolean>> = {
  pending: false,
  verified: true,
  temporaryFailure: true,
  failed: false,
  removed: false,
};

/** A domain that could send and can no more. */
export const lostWarning: Warning = {
  kind: domainKind,
  from: Object.entries(SENDS).flatMap(([state, sends]) => (sends ? [state] : [])),
  to: 'failed' satisfies DomainState,
  async email(database, { id, workspaceId }) {
    const [row] = await database.read((orm) =>
      orm.select({ name: domains.name }).from(domains).where(eq(domains.id, id)),
    );
    return row ? { kind: 'domainLost', workspaceId, domain: row.name } : null;
  },
};
