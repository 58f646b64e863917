import type { Database } from '../../db/database.ts';
import { COMMIT_LIMITS, Lane, type LaneLimits } from '../../engine/lane.ts';
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

/** A large message: its content stays where it is until there is room for it. */
export type HeavyMessage = Omit<LiveMessage, 'content'> & { readonly content: null; readonly size: number };

/** Why an address gets no more mail. `unsubscribed` keeps lists away and nothing else. */
export type Suppression = 'bounced' | 'complained' | 'unsubscribed' | 'manual';

/** Octets of a message whose content is read along: as many of them as there are slots need no counting. */
const LIGHT = 65_536;

/** Rows from before sizes were stored are measured, which costs PostgreSQL the reading of them. */
const MESSAGES = `select m.id, e.recipients, e.recipient_keys, m.domain_id, m.campaign_id, m.subject, m.envelope, s.size,
  case when s.size <= ${LIGHT} then m.content end as content
from unnest($1::text[]) i(id) join emails e on e.id = i.id join email_messages m on m.id = i.id
cross join lateral (select coalesce((m.envelope->>'size')::integer, octet_length(m.content::text)) as size offset 0) s`;

const CONTENTS = 'select id, content from email_messages where id = any($1::text[])';

const DOMAINS = 'select m.id, m.domain_id from unnest($1::text[]) i(id) join email_messages m on m.id = i.id';

const SUPPRESSIONS = `select distinct s.workspace_id, s.address_key, s.reason
from json_to_recordset($1::text::json) as a(workspace_id text, key text)
join suppressions s on s.workspace_id = a.workspace_id and s.address_key = a.key`;

/** What one statement brings into memory is bounded by the few that are asked for at once. */
const atOnce = (batchItems: number): LaneLimits => ({ ...COMMIT_LIMITS, batchItems });

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
  readonly #messages: Lane<Asking<string, LiveMessage | HeavyMessage | null>>;
  readonly #contents: Lane<Asking<string, Content | null>>;
  readonly #domains: Lane<Asking<string, string | null>>;
  readonly #suppressions: Lane<Asking<Addressees, ReadonlyMap<string, Suppression>>>;

  constructor(private readonly database: Database) {
    this.#messages = new Lane('live messages', (batch) => this.#readMessages(batch), atOnce(16), 2);
    // A lane of their own: no letter waits while a catalogue is read.
    this.#contents = new Lane('large messages', (batch) => this.#readContents(batch), atOnce(1), 2);
    this.#domains = new Lane('domains of emails', (batch) => this.#readDomains(batch), undefined, 2);
    this.#suppressions = new Lane('suppressions', (batch) => this.#readSuppressions(batch), undefined, 2);
  }

  /** The message, a large one without its content; null when retention has taken it. @throws Unavailable */
  message(emailId: string): Promise<LiveMessage | HeavyMessage | null> {
    return new Promise((settle, fail) => this.#messages.push({ question: emailId, settle, fail }));
  }

  /** The content of a large message; null when retention has taken it. @throws Unavailable */
  content(emailId: string): Promise<Content | null> {
    return new Promise((settle, fail) => this.#contents.push({ question: emailId, settle, fail }));
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

  #readMessages(batch: readonly Asking<string, LiveMessage | HeavyMessage | null>[]): Promise<void> {
    return answered(batch, async () => {
      const rows = await this.database.query<(LiveMessage | HeavyMessage) & { readonly id: string }>(
        MESSAGES,
        [batch.map(({ question }) => question)],
      );
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

  #readContents(batch: readonly Asking<string, Content | null>[]): Promise<void> {
    return answered(batch, async () => {
      const rows = await this.database.query<{ readonly id: string; readonly content: Content }>(CONTENTS, [
        batch.map(({ question }) => question),
      ]);
      const byId = new Map(rows.map(({ id, content }) => [id, content]));
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
