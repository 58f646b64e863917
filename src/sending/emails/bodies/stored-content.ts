import { findUsed, quotaExceeded, sendMeter } from '../../../accounts/usage/queries.ts';
import { bodyDay } from '../../../platform/bodies/body-key.ts';
import type { BodyStore } from '../../../platform/bodies/body-store.ts';
import type { Database } from '../../../platform/db/database.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import { UnavailableError } from '../../../platform/errors/unavailable.ts';
import type { Content, Envelope } from '../accept/message.ts';
import { LIGHT, packContent } from '../accept/packed-content.ts';
import type { EmailSender } from '../accept/prepare.ts';
import { putAway, type StoredContent } from './content-bodies.ts';

/** The services that storing a content calls. */
interface StoringDeps {
  /** Null where all contents lie in the database. */
  readonly bodies: BodyStore | null;
  readonly database: Database;
  readonly testSendsPerDay: number;
}

/** True of an email that brings bodies to the store before it is inserted. */
export const mayLieOutside = (
  bodies: BodyStore | null,
  { size }: Pick<Envelope, 'size'>,
): bodies is BodyStore => bodies !== null && size > LIGHT;

/**
 * The content of a new email as it is stored. What of it lies outside is durable there before anything refers
 * to it; for an email that is over the quota, as far as one can tell, nothing is written. @throws
 * UnavailableError
 */
export function storedContent(
  { bodies, database, testSendsPerDay }: StoringDeps,
  { sender, now }: { readonly sender: EmailSender; readonly now: number },
  id: string,
  { content, envelope }: { readonly content: Content; readonly envelope: Pick<Envelope, 'size'> },
): StoredContent | Promise<StoredContent | Failure> {
  if (!mayLieOutside(bodies, envelope)) {
    const packing = packContent(content);
    return packing instanceof Promise ? packing.then(inside) : inside(packing);
  }
  return outside(bodies);

  async function outside(store: BodyStore): Promise<StoredContent | Failure> {
    const { workspaceId, livemode, plan } = sender;
    const { quota } = sendMeter(livemode, plan, testSendsPerDay, now);
    const isOver = quota !== null && (await findUsed(database, workspaceId, livemode, now)) >= quota;
    if (isOver) return quotaExceeded(livemode);
    return putAway(store, content, { kind: 'email', livemode, workspaceId, day: bodyDay(timeOfId(id)) });
  }
}

const inside = (content: string): StoredContent => ({ content, judged: null });

/** An email was about to be stored when its bodies could have been collected already (insert-rule.ts). */
export const tooLate = (): UnavailableError =>
  new UnavailableError('The content lay outside for too long before its email could be stored.');
