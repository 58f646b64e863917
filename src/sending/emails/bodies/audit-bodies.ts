import type { Audit } from '../../../engine/audit/actors.ts';
import type { BodyStore } from '../../../platform/bodies/body-store.ts';
import { patiently } from '../../../platform/bodies/owner.ts';
import { lowestIdAt } from '../../../platform/db/ids.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';

/** The rows of one page. */
const BATCH = 1_000;

/** $4, $5: live and test emails below it may have been removed, with their bodies, since this moment of the database began. */
const REFERRED = `select b.workspace_id, b.key, min(b.email_id) as email_id
from email_bodies b join emails e on e.id = b.email_id and e.workspace_id = b.workspace_id
where (b.workspace_id, b.key) > ($1, $2) and b.email_id >= $3
  and b.email_id >= case when b.key < 'm' then $4 else $5 end
group by b.workspace_id, b.key order by b.workspace_id, b.key limit ${BATCH}`;

interface BodyReferenceRow {
  readonly workspace_id: string;
  readonly key: string;
  readonly email_id: string;
}

/** Checks that the bodies which emails have are in the store: keys and listings run side by side, in one order. */
export async function auditBodies({ session, findings, since, removed, bodies }: Audit): Promise<void> {
  const first = lowestIdAt('em', since);
  const kept = [removed.live, removed.test].map((before) => lowestIdAt('em', before + DAY_MS));
  let listed: FolderListing | null = null;
  for (let after = ['', '']; ; ) {
    const rows = await session.query<BodyReferenceRow>(REFERRED, [...after, first, ...kept]);
    const last = rows.at(-1);
    if (!last) return;
    if (!bodies) {
      findings.note(
        'BODY_STORE is not set: whether the contents that lie there are whole was not looked at.',
      );
      return;
    }
    findings.look('bodies', rows.length);
    for (const { key, email_id } of rows) {
      const folder = key.split('/').slice(0, 3).join('/');
      if (listed?.folder !== folder) listed = new FolderListing(bodies, folder);
      if (!(await listed.has(key))) findings.wrong('bodies', email_id, `its body ${key} is not in the store`);
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
        this.store.bucket.list(`${this.folder}/`, { after: this.#next }, signal),
      );
      this.#keys = page.keys;
      this.#at = 0;
      this.#next = page.next;
      this.#isThrough = page.next === null;
    }
  }
}
