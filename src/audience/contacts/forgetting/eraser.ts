import { eq } from 'drizzle-orm';
import { untilDone } from '../../../engine/duties/batches.ts';
import type { Duty } from '../../../engine/duties/duty.ts';
import type { Engine } from '../../../engine/engine.ts';
import { openOrNull, type Sealer } from '../../../platform/crypto/sealer.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { lowestIdAt, timeOfId } from '../../../platform/db/ids.ts';
import { erasures } from '../../../platform/db/schema/contacts.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { eraseForwarded, forwardsPersonSql } from '../../../sending/emails/queries.ts';
import { forgetReceived } from '../../../sending/received/commands.ts';
import { enterReasonSql, forgottenKey } from '../../../sending/suppressions/queries.ts';
import { type CommonSubjects, eraseFromEmails, type Person } from './erase-emails.ts';

/** Rows that one statement removes or looks through. */
const BATCH = 1_000;
/** Emails that still have to leave keep the address for so long at a time, then are looked at again. */
const AGAIN_MS = 10 * 60_000;
/** An address that cannot be opened is tried again so much later: the key may be found again. */
const SEALED_MS = 24 * 60 * 60_000;
/** The lease of an erasure: other instances leave it to its holder for this time. */
const LEASE_MS = 30_000;
const PURPOSE = 'a forgotten person';

/** In the place of the id from which emails are looked through, before the eraser has begun. */
export const NOT_BEGUN = '';
/** Ids are made by the clocks of all instances. */
const SKEW_MS = 1_000;
/** A statement that forgets takes less; what is sent to the same address later is none of the erasure's. */
const LONGEST_FORGETTING_MS = 10_000;

/** The moment before which every message came or was accepted before the contact was gone. */
const endOf = ({ id }: Pick<Erasure, 'id'>, now: number): number =>
  Math.min(now + SKEW_MS, timeOfId(id) + LONGEST_FORGETTING_MS);

const beginningOf = (erasure: Pick<Erasure, 'id'>, now: number): string =>
  lowestIdAt('em', endOf(erasure, now));

/** Hides a person, whom the eraser alone has to know, until its work is done. */
export const sealPerson = (sealer: Sealer, person: Person): string =>
  sealer.seal(JSON.stringify(person), PURPOSE);

/** The parts of other modules that hold something of a forgotten contact. */
export interface ForgettingHooks {
  /** Ends the runs of a contact. @throws UnavailableError */
  endRunsOf(contactId: string, stop?: AbortSignal): Promise<void>;
  /** Takes the rest of the address out of the audiences of campaigns. @throws UnavailableError */
  forgetRecipient(workspaceId: string, contactId: string): Promise<void>;
  /** The subjects of campaigns as they were written, by their ids. @throws UnavailableError */
  readonly commonSubjects: CommonSubjects;
}

/** The services that erasing calls. */
export interface EraserDeps {
  readonly hooks: ForgettingHooks;
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly signer: Signer;
  readonly logger: Logger;
}

interface Erasure {
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly contact_id: string;
  readonly sealed: string;
  readonly below: string;
  readonly is_through: boolean;
  readonly waiting: readonly string[];
}

interface EmailPage {
  readonly below: string | null;
  readonly looked: number;
  readonly ids: readonly string[];
  readonly forwarded: readonly string[];
}

/** Claims the erasure that is due first. */
const CLAIM = `update erasures set next_at = $2::timestamptz where id = (
  select id from erasures where next_at <= $1::timestamptz order by next_at limit 1 for update skip locked
) returning id, workspace_id, livemode, contact_id, sealed, below, is_through, waiting`;

const ACTIVITY = `delete from contact_activity where (contact_id, id) in (
  select contact_id, id from contact_activity where contact_id = $1 limit ${BATCH}
) returning 1 as one`;

/**
 * One page of the workspace's emails, newest first: those that were sent to the person, and those that
 * forward a message that names them. The latter outlive the message, which may be deleted, and forwarded more
 * than once.
 */
const PAGE = `with page as materialized (
  select id, recipient_keys, ${forwardsPersonSql('emails', '$4::text')} as forwards from emails where workspace_id = $1 and livemode = $2::boolean and id < $3 order by id desc limit ${BATCH}
)
select (select min(id) from page) as below, (select count(*) from page)::integer as looked,
  array(select id from page where recipient_keys @> array[$4::text]) as ids,
  array(select id from page where forwards) as forwarded`;

/** Stores the place in the workspace's emails, and the time of the next step. */
const continueAt = (
  database: Database,
  id: string,
  { waiting, ...place }: Pick<typeof erasures.$inferSelect, 'below' | 'isThrough'> & Pick<Erasure, 'waiting'>,
  at: number,
): Promise<unknown> =>
  database.read((orm) =>
    orm
      .update(erasures)
      .set({ ...place, waiting: [...waiting], nextAt: new Date(at) })
      .where(eq(erasures.id, id)),
  );

/**
 * Ends an erasure. A bounce that came meanwhile may have shown the address again; it is hidden, unless the
 * person is a contact again.
 */
const END = `with ended as (
  delete from erasures where id = $1 returning workspace_id, livemode
), shown as (
  delete from suppressions s using ended e
  where e.livemode and s.workspace_id = e.workspace_id and s.address_key = $2 and not exists (
    select from contacts c where c.workspace_id = e.workspace_id and c.livemode and c.email_key = $2)
  returning s.workspace_id, s.reason, s.created_at, s.unsubscribed_at, s.complained_at
)
insert into suppressions as s (workspace_id, address_key, address, reason, email_id, created_at, unsubscribed_at, complained_at)
select workspace_id, $3, null, reason, null, created_at, unsubscribed_at, complained_at from shown
${enterReasonSql('s')}`;

/** Removes forgotten people from the emails that were sent to them: page by page, on any instance. */
export class Eraser {
  readonly duty: Duty = {
    name: 'contactEraser',
    pattern: '*/20 * * * * *',
    asks: (now) => `exists (select from erasures where next_at <= ${now})`,
    run: (stop) => this.run(stop),
  };
  #running: Promise<void> | null = null;
  #isWoken = false;

  constructor(private readonly deps: EraserDeps) {}

  /** Begins soon, and delays no answer to a request. The duty retries what fails. */
  wake(): void {
    this.#isWoken = true;
    void this.run().catch(() => {});
  }

  /** Works until no erasure is due. */
  run(stop?: AbortSignal): Promise<void> {
    this.#running ??= this.#work(stop).finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #work(stop?: AbortSignal): Promise<void> {
    do {
      this.#isWoken = false;
      for (let one = await this.#claim(); one; one = stop?.aborted ? null : await this.#claim())
        await this.#erase(one, stop);
    } while (this.#isWoken && !stop?.aborted);
  }

  async #claim(): Promise<Erasure | null> {
    const now = this.deps.clock.now();
    const [row] = await this.deps.database.query<Erasure>(CLAIM, [iso(now), iso(now + LEASE_MS)]);
    return row ?? null;
  }

  /** The person of these emails is unknown, so retention deletes them. Other erasures continue. */
  async #putOff({ id, below, is_through: isThrough, waiting }: Erasure): Promise<void> {
    const { database, clock, logger } = this.deps;
    logger.warn(
      { erasure: id },
      'A forgotten person cannot be taken out of sent emails: SECRET_KEY is not the key that the address was sealed with.',
    );
    await continueAt(database, id, { below, isThrough, waiting }, clock.now() + SEALED_MS);
  }

  async #erase(erasure: Erasure, stop?: AbortSignal): Promise<void> {
    const { database, clock, sealer, signer, hooks } = this.deps;
    await hooks.endRunsOf(erasure.contact_id, stop);
    await untilDone(database, ACTIVITY, [erasure.contact_id], BATCH, stop);
    const opened = openOrNull(sealer, erasure.sealed, PURPOSE);
    if (opened === null) return await this.#putOff(erasure);
    const person = JSON.parse(opened) as Person;
    const erase = (ids: readonly string[]) =>
      eraseFromEmails(
        { database, signer, commonSubjects: hooks.commonSubjects },
        erasure.workspace_id,
        person,
        ids,
      );
    await forgetReceived(
      database,
      {
        workspaceId: erasure.workspace_id,
        livemode: erasure.livemode,
        key: person.key,
        contactId: erasure.contact_id,
        before: endOf(erasure, clock.now()),
      },
      stop,
    );
    let { is_through: isThrough, waiting } = erasure;
    let below = erasure.below === NOT_BEGUN ? beginningOf(erasure, clock.now()) : erasure.below;
    const proceed = (nextAt: number) =>
      continueAt(database, erasure.id, { below, isThrough, waiting }, nextAt);
    if (isThrough) waiting = await erase(waiting);
    while (!isThrough && !stop?.aborted) {
      const [page] = await database.query<EmailPage>(PAGE, [
        erasure.workspace_id,
        erasure.livemode,
        below,
        person.key,
      ]);
      waiting = [...waiting, ...(await erase(page?.ids ?? []))];
      await eraseForwarded(database, erasure.workspace_id, page?.forwarded ?? []);
      below = page?.below ?? below;
      isThrough = (page?.looked ?? 0) < BATCH;
      await proceed(clock.now() + LEASE_MS);
    }
    if (!isThrough) return;
    if (waiting.length > 0) await proceed(clock.now() + AGAIN_MS);
    else {
      await hooks.forgetRecipient(erasure.workspace_id, erasure.contact_id);
      const hash = forgottenKey(signer, erasure.workspace_id, person.key);
      await database.query(END, [erasure.id, person.key, hash]);
    }
  }
}

const iso = (at: number): string => new Date(at).toISOString();
