import { boundsOf } from '../../../engine/store/statements/statement-parts.ts';
import { BatchedRead } from '../../../platform/async/batched-read.ts';
import type { Database } from '../../../platform/db/database.ts';

/** The subject of an email that was made for its recipient after the email was inserted. */
interface MadeSubject {
  readonly workspaceId: string;
  readonly emailId: string;
  readonly subject: string;
}

/**
 * Bounded by the lowest and the highest id, which lie close together: while little was known of a new table,
 * the planner read all emails of the workspace for each statement, 10 ms with 9,000. All are live.
 */
const WRITE = `update emails e set subject = i.subject from json_to_recordset($1::text::json) as i(id text, subject text)
where e.id = i.id and e.workspace_id = $2 and e.livemode and e.id >= $3 and e.id <= $4`;

/**
 * Stores subjects in the rows of their emails; those that are made at the same time share a statement for
 * each workspace.
 */
export class SubjectWriter {
  readonly #writes: BatchedRead<MadeSubject, true>;

  constructor(database: Pick<Database, 'query'>) {
    this.#writes = new BatchedRead('subjects', async (made) => {
      for (const [workspaceId, own] of Map.groupBy(made, (one) => one.workspaceId)) {
        const rows = new Map(own.map(({ emailId, subject }) => [emailId, { id: emailId, subject }]));
        const ordered = [...rows.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
        await database.query(WRITE, [JSON.stringify(ordered), workspaceId, ...boundsOf([...rows.keys()])]);
      }
      return () => true;
    });
  }

  /**
   * Stores one: from then on lists, searches and webhooks name the email as it leaves. @throws
   * UnavailableError
   */
  async keep(made: MadeSubject): Promise<void> {
    await this.#writes.ask(made);
  }
}
