import type { Database } from '../../db/database.ts';
import { Lane } from '../../engine/lane.ts';
import type { Content, Envelope } from './message.ts';

/** A message as it was accepted, with all that sending it takes. */
export interface LiveMessage {
  readonly recipients: readonly string[];
  /** What the recipients' addresses are compared by, in their order. */
  readonly recipient_keys: readonly string[];
  readonly domain_id: string | null;
  readonly campaign_id?: string | null;
  readonly subject: string;
  readonly envelope: Envelope;
  readonly content: Content;
}

/** Why an address gets no more mail. `unsubscribed` keeps lists away and nothing else. */
export type Suppression = 'bounced' | 'complained' | 'unsubscribed' | 'manual';

const MESSAGES = `select m.id, e.recipients, e.recipient_keys, m.domain_id, m.campaign_id, m.subject, m.envelope, m.content
from unnest($1::text[]) i(id) join emails e on e.id = i.id join email_messages m on m.id = i.id`;

const DOMAINS = 'select m.id, m.domain_id from unnest($1::text[]) i(id) join email_messages m on m.id = i.id';

const SUPPRESSIONS = `select distinct s.workspace_id, s.address_key, s.reason
from json_to_recordset($1::text::json) as a(workspace_id text, key text)
join suppressions s on s.workspace_id = a.workspace_id and s.address_key = a.key`;

/** Messages may be large: what one statement brings into memory stays bounded by the few that are asked for at once. */
const MESSAGES_AT_ONCE = {
  batchItems: 16,
  batchBytes: 1_048_576,
  waitingItems: 20_000,
  waitingBytes: 67_108_864,
};

interface Asking<Question, Answer> {
  readonly question: Question;
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

interface Addressees {
  readonly workspaceId: string;
  readonly keys: readonly string[];
}

/** What the database says before an attempt. Attempts that begin together share a statement. */
export class LiveReader {
  readonly #messages: Lane<Asking<string, LiveMessage | null>>;
  readonly #domains: Lane<Asking<string, string | null>>;
  readonly #suppressions: Lane<Asking<Addressees, ReadonlyMap<string, Suppression>>>;

  constructor(private readonly database: Database) {
    this.#messages = new Lane('live messages', (batch) => this.#readMessages(batch), MESSAGES_AT_ONCE, 2);
    this.#domains = new Lane('domains of emails', (batch) => this.#readDomains(batch), undefined, 2);
    this.#suppressions = new Lane('suppressions', (batch) => this.#readSuppressions(batch), undefined, 2);
  }

  /** The message; null when retention has taken it. @throws Unavailable */
  message(emailId: string): Promise<LiveMessage | null> {
    return new Promise((settle, fail) => this.#messages.push({ question: emailId, settle, fail }));
  }

  /** The domain that an email is sent from; null where there is none, or no message any more. @throws Unavailable */
  domainOf(emailId: string): Promise<string | null> {
    return new Promise((settle, fail) => this.#domains.push({ question: emailId, settle, fail }));
  }

  /** Which of the addresses (by key) get no mail of that workspace, and why. @throws Unavailable */
  suppressions(workspaceId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Suppression>> {
    return new Promise((settle, fail) =>
      this.#suppressions.push({ question: { workspaceId, keys }, settle, fail }),
    );
  }

  #readMessages(batch: readonly Asking<string, LiveMessage | null>[]): Promise<void> {
    return answered(batch, async () => {
      const rows = await this.database.query<LiveMessage & { readonly id: string }>(MESSAGES, [
        batch.map(({ question }) => question),
      ]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      return (id) => byId.get(id) ?? null;
    });
  }

  #readDomains(batch: readonly Asking<string, string | null>[]): Promise<void> {
    return answered(batch, async () => {
      const rows = await this.database.query<{ readonly id: string; readonly domain_id: string | null }>(
        DOMAINS,
        [batch.map(({ question }) => question)],
      );
      const byId = new Map(rows.map(({ id, domain_id }) => [id, domain_id]));
      return (id) => byId.get(id) ?? null;
    });
  }

  #readSuppressions(batch: readonly Asking<Addressees, ReadonlyMap<string, Suppression>>[]): Promise<void> {
    return answered(batch, async () => {
      const asked = batch.flatMap(({ question: { workspaceId, keys } }) =>
        keys.map((key) => ({ workspace_id: workspaceId, key })),
      );
      const rows = await this.database.query<{
        workspace_id: string;
        address_key: string;
        reason: Suppression;
      }>(SUPPRESSIONS, [JSON.stringify(asked)]);
      const byWorkspace = Map.groupBy(rows, ({ workspace_id }) => workspace_id);
      return ({ workspaceId, keys }) => {
        const found = (byWorkspace.get(workspaceId) ?? []).filter(({ address_key }) =>
          keys.includes(address_key),
        );
        return new Map(found.map(({ address_key, reason }) => [address_key, reason]));
      };
    });
  }
}

async function answered<Question, Answer>(
  batch: readonly Asking<Question, Answer>[],
  read: () => Promise<(question: Question) => Answer>,
): Promise<void> {
  try {
    const answerTo = await read();
    for (const { question, settle } of batch) settle(answerTo(question));
  } catch (error) {
    for (const { fail } of batch) fail(error);
  }
}
