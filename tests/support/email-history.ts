import postgres from 'postgres';
import { EMAIL_EVENT_TYPES, type EmailEventType } from '../../machines/email/recipient.ts';
import type { RandomSource } from '../../src/ops/torture/random.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import type { SharedStore } from './shared-store.ts';

/** One email of a generated history, with what happened to it so far. */
export interface PastEmail {
  readonly id: string;
  readonly acceptedAt: number;
  readonly recipients: number;
  readonly domainId: string | null;
  readonly campaignId: string | null;
  readonly templateId: string | null;
  readonly tags: readonly string[];
  readonly events: PastEvent[];
  revision: number;
}

/** An event of it. */
export interface PastEvent {
  readonly type: EmailEventType;
  readonly recipient: number;
  readonly at: number;
  /** True for a program that fetches pictures or follows links. */
  readonly byMachine: boolean;
}

const ONCE: ReadonlySet<string> = new Set(['complained', 'unsubscribed']);

const BIRTHS = `insert into emails (id, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at, recipients,
    recipient_keys, sender_key, subject, tags, domain_id, template_id, campaign_id, envelope, content, position)
  select id, $2, true, 'sending', '{}', 1, 0, '[]', at, recipients, '{}', 'x@y.co', 's', tags, "domainId", "templateId", "campaignId", '{}', '',
    (select event_position())
  from json_to_recordset($1::text::json) as r(id text, at timestamptz, recipients text[], tags text[], "domainId" text,
    "templateId" text, "campaignId" text)`;
const TURNS = `insert into email_turns (email_id, revision, workspace_id, livemode, state, context, machine_version, commit_tag, steps, at,
    recorded, position)
  select id, revision, $2, true, 'sent', '{}', 1, 0, '[]', now(), recorded, (select event_position())
  from json_to_recordset($1::text::json) as r(id text, revision integer, recorded json)`;

/** One commit's writes, and the facts that are known after it. */
interface Commit {
  readonly inserts: readonly PastEmail[];
  readonly turns: readonly { readonly email: PastEmail; readonly events: readonly PastEvent[] }[];
}

/** The places that a history is drawn from. */
export interface Era {
  readonly workspaceId: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Writes a random history as several instances do it at once: transactions that are open side by side and end
 * in any order. `emails` is what a reader can see.
 */
export class HistoryWriter implements AsyncDisposable {
  readonly emails: PastEmail[] = [];
  events = 0;
  readonly #lanes: Lane[];
  readonly #sql: postgres.Sql | null;

  constructor(
    store: SharedStore,
    private readonly era: Era,
    private readonly random: RandomSource,
    private readonly rowsACommit = 20,
  ) {
    this.#sql = store.url === null ? null : postgres(store.url, { max: 4, onnotice: () => {} });
    const sql = this.#sql;
    this.#lanes = sql
      ? Array.from({ length: 4 }, () => new Lane(() => openTransaction(sql)))
      : [new Lane(() => onItsOwn(store))];
  }

  /** One step of any of them: it begins a transaction and writes, or ends the one that is open. */
  async step(): Promise<void> {
    const lane = this.random.pick(this.#lanes);
    if (lane.open !== null) return this.#learn(await lane.end(), lane);
    await lane.begin(this.#next(lane), this.era.workspaceId);
    // The embedded database has one connection: what is written is there at once.
    if (!this.#sql) await this.settle();
  }

  /** Ends all that is open. */
  async settle(): Promise<void> {
    for (const lane of this.#lanes) if (lane.open !== null) this.#learn(await lane.end(), lane);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.settle();
    await this.#sql?.end();
  }

  /** Only what a lane wrote itself happens on in it: the turns of an email come one after another. */
  #next({ emails }: Lane): Commit {
    const inserts = Array.from({ length: 1 + this.random.between(0, this.rowsACommit / 4) }, () =>
      this.#insert(),
    );
    const turned = new Set(
      emails.length === 0 ? [] : Array.from({ length: this.rowsACommit }, () => this.random.pick(emails)),
    );
    return { inserts, turns: [...turned].map((email) => ({ email, events: this.#eventsOf(email) })) };
  }

  #moment(from = this.era.from): number {
    return this.random.between(from, this.era.to - 1);
  }

  #insert(): PastEmail {
    const acceptedAt = this.#moment();
    const { random } = this;
    return {
      id: mintId('em', acceptedAt),
      acceptedAt,
      recipients: random.between(1, 3),
      domainId: random.pick([null, 'dom_a', 'dom_b']),
      campaignId: random.pick([null, null, 'cmp_a', 'cmp_b']),
      templateId: random.pick([null, 'tpl_a']),
      tags: random.pick([[], ['a:1'], ['a:1', 'b:2'], ['a:1', 'a:1']]),
      events: [],
      revision: 1,
    };
  }

  /** As the machine records them: a complaint and an unsubscription of a recipient come once. */
  #eventsOf({ acceptedAt, recipients, events: known }: PastEmail): readonly PastEvent[] {
    const { random } = this;
    const events: PastEvent[] = [];
    for (let left = random.between(1, 3); left > 0; left--) {
      const type = random.pick(EMAIL_EVENT_TYPES);
      const recipient = random.between(0, recipients - 1);
      const isSame = (event: PastEvent) => event.type === type && event.recipient === recipient;
      if (ONCE.has(type) && [...known, ...events].some(isSame)) continue;
      const byMachine = (type === 'opened' || type === 'clicked') && random.next() < 0.5;
      events.push({ type, recipient, at: this.#moment(acceptedAt), byMachine });
    }
    return events;
  }

  #learn({ inserts, turns }: Commit, lane: Lane): void {
    lane.emails.push(...inserts);
    this.emails.push(...inserts);
    for (const { email, events } of turns) {
      email.events.push(...events);
      this.events += events.length;
    }
  }
}

type Write = (
  statement: string,
  parameters: readonly [rows: string, workspaceId: string],
) => Promise<unknown>;
interface Transaction {
  readonly write: Write;
  commit(): Promise<unknown>;
}

class Lane {
  readonly emails: PastEmail[] = [];
  open: { readonly commit: Commit; readonly transaction: Transaction } | null = null;

  constructor(private readonly transact: () => Promise<Transaction>) {}

  async begin(commit: Commit, workspaceId: string): Promise<void> {
    const transaction = await this.transact();
    const inserts = commit.inserts.map(
      ({ id, acceptedAt, recipients, tags, domainId, templateId, campaignId }) => ({
        id,
        at: new Date(acceptedAt),
        tags,
        domainId,
        templateId,
        campaignId,
        recipients: Array.from({ length: recipients }, (_, index) => `r${index}@example.com`),
      }),
    );
    await transaction.write(BIRTHS, [JSON.stringify(inserts), workspaceId]);
    const turns = commit.turns.map(({ email, events }) => {
      email.revision += 1;
      return { id: email.id, revision: email.revision, recorded: events.map(recordedOf) };
    });
    await transaction.write(TURNS, [JSON.stringify(turns), workspaceId]);
    this.open = { commit, transaction };
  }

  async end(): Promise<Commit> {
    if (!this.open) throw new Error('Nothing is open.');
    const { commit, transaction } = this.open;
    await transaction.commit();
    this.open = null;
    return commit;
  }
}

const recordedOf = ({ type, recipient, at, byMachine }: PastEvent) => ({
  id: mintId('evt', at),
  type,
  recipient,
  occurred_at: new Date(at),
  data: type === 'opened' || type === 'clicked' ? { via: byMachine ? 'imageProxy' : null } : {},
});

async function openTransaction(sql: postgres.Sql): Promise<Transaction> {
  const connection = await sql.reserve();
  await connection`begin`;
  return {
    write: (statement, parameters) => connection.unsafe(statement, [...parameters]),
    async commit() {
      await connection`commit`;
      connection.release();
    },
  };
}

const onItsOwn = ({ database }: SharedStore): Promise<Transaction> =>
  Promise.resolve({
    write: (statement, parameters) => database.query(statement, parameters),
    commit: () => Promise.resolve(),
  });
