import { BODY_KINDS, type BodyKind, environmentPrefix, folderOf } from '../../platform/bodies/body-key.ts';
import type { BodyStore } from '../../platform/bodies/body-store.ts';
import type { BodyHolder, BodyHolders } from '../../platform/bodies/holder.ts';
import { patiently } from '../../platform/bodies/owner.ts';
import { lowestIdAt } from '../../platform/db/ids.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { Audit } from '../audit/actors.ts';
import { isExchanged } from './exchanged.ts';
import { nextReferences } from './references.ts';

/** The rows of one page. */
const BATCH = 1_000;

const IS_LIVE = `starts_with(key, '${environmentPrefix(true)}')`;
/**
 * $4, $5: live and test rows below it may have been removed, with their bodies, since this moment of the
 * database began.
 */
const AUDITED = `id >= $3 and id >= case when ${IS_LIVE} then $4 else $5 end`;

interface ReferenceRow {
  readonly workspace_id: string;
  readonly key: string;
  readonly id: string;
}

/**
 * Checks that the bodies which rows have are in the store: keys and listings run side by side, in one order.
 */
export async function auditBodies(audit: Audit, holders: BodyHolders): Promise<void> {
  const { session, bodies, findings } = audit;
  if (bodies && (await isExchanged(bodies.bucket, session, holders)))
    return findings.note(
      'BODY_STORE is another bucket than the one with the bodies: whether they are whole was not looked at. Set it as it was.',
    );
  let isUsed = false;
  for (const kind of Object.keys(holders) as BodyKind[])
    isUsed = (await auditHolder(audit, holders[kind], BODY_KINDS[kind].isDated)) || isUsed;
  if (isUsed && !bodies)
    findings.note('BODY_STORE is not set: whether the contents that lie there are whole was not looked at.');
}

/** Checks the bodies of one kind; true where it has some. */
async function auditHolder(
  { session, findings, since, removed, bodies }: Audit,
  holder: BodyHolder,
  endsByAge: boolean,
): Promise<boolean> {
  const { idPrefix } = holder;
  const first = lowestIdAt(idPrefix, since);
  const kept = [removed.live, removed.test].map((before) =>
    endsByAge ? lowestIdAt(idPrefix, before + DAY_MS) : '',
  );
  const page = nextReferences(holder, BATCH, AUDITED);
  let listed: FolderListing | null = null;
  let isUsed = false;
  for (let after = ['', '']; ; ) {
    const rows = await session.query<ReferenceRow>(page, [...after, first, ...kept]);
    const last = rows.at(-1);
    if (!last) return isUsed;
    isUsed = true;
    if (!bodies) return true;
    findings.look('bodies', rows.length);
    for (const { key, id } of rows) {
      const folder = folderOf(key);
      if (listed?.folder !== folder) listed = new FolderListing(bodies, folder);
      if (!(await listed.has(key))) findings.wrong('bodies', id, `its body ${key} is not in the store`);
    }
    after = [last.workspace_id, last.key];
  }
}

/** The objects in a folder, in the order of their keys. */
class FolderListing {
  #keys: readonly string[] = [];
  #at = 0;
  #next: string | null = null;
  #isThrough = false;

  constructor(
    private readonly store: BodyStore,
    readonly folder: string,
  ) {}

  async has(key: string): Promise<boolean> {
    for (;;) {
      while (this.#at < this.#keys.length && (this.#keys[this.#at] as string) < key) this.#at++;
      if (this.#at < this.#keys.length) return this.#keys[this.#at] === key;
      if (this.#isThrough) return false;
      const page = await patiently((signal) =>
        this.store.bucket.list(this.folder, { after: this.#next }, signal),
      );
      this.#keys = page.keys;
      this.#at = 0;
      this.#next = page.next;
      this.#isThrough = page.next === null;
    }
  }
}
