import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, inArray } from 'drizzle-orm';
import {
  environmentPrefix,
  generationClosed,
  KEPT_SHELF,
  readBodyKey,
} from '../../platform/bodies/body-key.ts';
import type { Bucket } from '../../platform/bodies/bucket.ts';
import type { BodyHolders } from '../../platform/bodies/holder.ts';
import { claim, givenName, ownerOf, ownStore, patiently } from '../../platform/bodies/owner.ts';
import { mintId } from '../../platform/db/ids.ts';
import { bodyCollections } from '../../platform/db/schema/mail.ts';
import { retention } from '../../platform/db/schema/service.ts';
import { workspaces } from '../../platform/db/schema/workspaces.ts';
import type { Logger } from '../../platform/telemetry/logger.ts';
import { DAY_MS } from '../../platform/time/clock.ts';
import type { Duty, DutyDeps } from '../duties/duty.ts';
import { SettledTime } from '../store/settled.ts';
import { expectedOwner } from './exchanged.ts';
import { referredKeys } from './references.ts';

export interface CollectorDeps extends DutyDeps {
  readonly bucket: Bucket;
  /** Everything that refers to bodies. */
  readonly holders: BodyHolders;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** The time (epoch ms) up to which every insert is visible; null while it is unknown. Tests replace it. */
  readonly settled?: () => Promise<number | null>;
}

/** Removals under way at once. */
const AT_ONCE = 8;

const CLAIMED = 'update body_store_owner set place = $2 where id = $1';

/** Every body of an image is looked for this often by a process: each workspace is a question. */
const KEPT_EVERY_MS = DAY_MS - 60_000;

/**
 * Removes bodies that nothing has: those of emails, received messages and images that were removed, by
 * retention, by hand or with their workspace, and those that were written for a row which never was stored. A
 * day of mail is looked through once after its end, and again from when its emails expire; workspaces that
 * are gone, every time. Images have no age: all of theirs are looked through once a day.
 *
 * A body goes only if its generation is closed, and so that every row which has it can be seen: all
 * transactions have ended that may have stored one in time (sending/emails/bodies/insert-rule.ts). So no row
 * can refer to it any more, however late its removal arrives.
 */
export function bodyCollector(deps: CollectorDeps): Duty {
  let keptAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'bodyCollector',
    pattern: '0 47 * * * *',
    goesByAge: true,
    async run(stop) {
      const begun = deps.clock.monotonic();
      const withKept = begun - keptAt >= KEPT_EVERY_MS;
      if ((await new Collection(deps, stop).run(withKept)) && withKept) keptAt = begun;
    },
  };
}

/** The most questions. Most transactions of the time of the first one have ended by then. */
const MOST_ASKS = 60;
const ASK_MS = 500;

/**
 * The time (epoch ms) up to which every insert is visible. With constant mail some transaction is always
 * open, and a single question would never have an answer. So it is repeated until all transactions that were
 * open at one of the questions have ended.
 */
export async function settledOf(
  { database, clock }: DutyDeps,
  stop?: AbortSignal,
  askMs = ASK_MS,
): Promise<number | null> {
  const settled = new SettledTime(database, clock);
  for (let asks = 0; asks < MOST_ASKS && !stop?.aborted; asks++) {
    if (asks > 0) await pause(askMs);
    await settled.ask();
    if (settled.until !== null) return settled.until;
  }
  return null;
}

class Collection {
  #removed = 0;
  /** The time (epoch ms) up to which every insert is visible. */
  #settled = 0;

  constructor(
    private readonly deps: CollectorDeps,
    private readonly stop: AbortSignal | undefined,
  ) {}

  /** True when all of it was looked through. */
  async run(withKept: boolean): Promise<boolean> {
    const { logger } = this.deps;
    if (!(await this.#isOurs())) return false;
    const settled = await (this.deps.settled?.() ?? settledOf(this.deps, this.stop));
    // A transaction that is held open keeps everything as it is until it has ended.
    if (settled === null) return false;
    this.#settled = settled;
    await this.#mail();
    if (withKept) await this.#kept();
    if (this.#removed > 0) logger.info({ bodies: this.#removed }, 'Removed bodies that nothing has');
    return !this.#isStopped;
  }

  /** Images: the folders of all workspaces, whether they are gone or not. */
  async #kept(): Promise<void> {
    for await (const folder of this.#folders(`${KEPT_SHELF}/`)) {
      if (this.#isStopped) return;
      await this.#workspace(folder.split('/').at(-2) ?? '', folder);
    }
  }

  /** Mail: the days of both environments. */
  async #mail(): Promise<void> {
    const { database } = this.deps;
    const removedBefore = await database.read((orm) => orm.select().from(retention));
    const collected = await database.read((orm) => orm.select().from(bodyCollections));
    for (const livemode of [true, false]) {
      const before = removedBefore.find((row) => row.livemode === livemode)?.removedBefore.getTime() ?? 0;
      const done = new Set(collected.flatMap((row) => (row.livemode === livemode ? row.day : [])));
      for await (const prefix of this.#folders(environmentPrefix(livemode))) {
        const day = prefix.split('/')[1] ?? '';
        const end = Date.parse(`${day}T00:00:00Z`) + DAY_MS;
        if (Number.isNaN(end) || this.#isStopped) continue;
        await this.#day(livemode, day, prefix, {
          isWhole: end < before || (!done.has(day) && this.#isOver(end)),
        });
      }
    }
  }

  /** Any email of a day was accepted, or will never be, an hour and some minutes after its end. */
  #isOver(end: number): boolean {
    return generationClosed(mintId('gen', end)) < this.#settled;
  }

  get #isStopped(): boolean {
    return this.stop?.aborted ?? false;
  }

  /** All bodies of another database would seem to have no email. */
  async #isOurs(): Promise<boolean> {
    const { database, bucket, clock, logger, holders } = this.deps;
    const own = await givenName(database, mintId('own', clock.now()));
    const { place = null } = (await ownStore(database)) ?? {};
    let owner = await ownerOf(bucket);
    // Another database may claim it at the same time.
    if (owner === null && (await expectedOwner(bucket, database, holders)) === null)
      owner = await this.#claim(own, place);
    if (owner !== own) {
      logger.warn(
        { owner, own },
        `BODY_STORE ${owner !== null ? 'belongs to another database' : 'is another bucket than the one with the bodies'}: nothing is collected there. \`posthorn doctor\` says what to do.`,
      );
      return false;
    }
    await this.#take(own, place);
    return true;
  }

  /**
   * An emptied bucket is claimed again: what was there is lost whether it is or not, and new bodies want a
   * place.
   */
  async #claim(own: string, place: string | null): Promise<string | null> {
    const { bucket, logger } = this.deps;
    if (place === bucket.name)
      logger.warn(
        { bucket: bucket.name },
        'BODY_STORE has lost its object "owner", and gets it again: it was emptied, or its disk is not mounted. If so, stop the service and mount it, since what is stored now will be missing there.',
      );
    return claim(bucket, own);
  }

  /**
   * Remembers the bucket. Instances that name different ones, which both know this database, would lose
   * bodies to each other.
   */
  async #take(own: string, former: string | null): Promise<void> {
    const { database, bucket, logger } = this.deps;
    if (former === bucket.name) return;
    await database.query(CLAIMED, [own, bucket.name]);
    if (former !== null)
      logger.warn(
        { former, now: bucket.name },
        'The bodies are in another BODY_STORE from now on. Stop every instance that names the former one, and delete the object "owner" there.',
      );
  }

  async #day(
    livemode: boolean,
    day: string,
    prefix: string,
    { isWhole }: { readonly isWhole: boolean },
  ): Promise<void> {
    const { database } = this.deps;
    let isEmpty = true;
    for await (const folders of this.#pages(prefix)) {
      const ids = folders.map((folder) => folder.split('/')[2] ?? '');
      const rows = await database.read((orm) =>
        orm.select({ id: workspaces.id }).from(workspaces).where(inArray(workspaces.id, ids)),
      );
      const living = new Set(rows.map(({ id }) => id));
      for (const [at, folder] of folders.entries()) {
        const id = ids[at] ?? '';
        if (!isWhole && living.has(id)) continue;
        isEmpty = (await this.#workspace(id, folder)) && isEmpty;
        if (this.#isStopped) return;
      }
    }
    if (!isWhole || this.#isStopped) return;
    const { livemode: environment, day: collected } = bodyCollections;
    await database.read((orm) =>
      isEmpty
        ? orm.delete(bodyCollections).where(and(eq(environment, livemode), eq(collected, day)))
        : orm.insert(bodyCollections).values({ livemode, day }).onConflictDoNothing(),
    );
  }

  /** Removes what nothing has of a workspace in a folder; true when nothing is left. */
  async #workspace(id: string, folder: string): Promise<boolean> {
    const { database, bucket, holders } = this.deps;
    for (const { forgetRemoved } of Object.values(holders))
      await forgetRemoved?.(database, id, folder, this.stop);
    let kept = 0;
    for (let after: string | null = null, isFirst = true; isFirst || after; isFirst = false) {
      const page = await patiently((signal) => bucket.list(folder, { after }, signal), this.stop);
      after = page.next;
      const closed = page.keys.filter((key) => {
        const place = readBodyKey(key);
        return place !== null && generationClosed(place.generation) < this.#settled;
      });
      const referred = await referredKeys(database, holders, id, closed);
      const unused = closed.filter((key) => !referred.has(key));
      kept += page.keys.length - unused.length;
      for (let from = 0; from < unused.length && !this.#isStopped; from += AT_ONCE) {
        const some = unused.slice(from, from + AT_ONCE);
        await Promise.all(some.map((key) => patiently((signal) => bucket.delete(key, signal), this.stop)));
        this.#removed += some.length;
      }
      if (this.#isStopped) return false;
    }
    return kept === 0;
  }

  async *#folders(prefix: string): AsyncGenerator<string> {
    for await (const page of this.#pages(prefix)) yield* page;
  }

  /** The names below a prefix, up to the next slash. */
  async *#pages(prefix: string): AsyncGenerator<readonly string[]> {
    for (let after: string | null = null, isFirst = true; isFirst || after; isFirst = false) {
      const page = await patiently(
        (signal) => this.deps.bucket.list(prefix, { after, isFolders: true }, signal),
        this.stop,
      );
      if (page.prefixes.length > 0) yield page.prefixes;
      after = page.next;
    }
  }
}
