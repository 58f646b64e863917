import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { itemError } from '../../http/request/item-error.ts';
import { type Call, Replay } from '../../http/request/route.ts';
import { compileChecker } from '../../http/request/schema.ts';
import { type Detail, type Failure, invalid } from '../../platform/errors/failure.ts';
import { storedOutcomes, writeOnClock } from './commands.ts';
import type { ContactCommands } from './lists/contact-rows.ts';
import { type ContactBatchItem, NewContact } from './model.ts';
import { MOST_PROPERTIES, tooManyProperties } from './properties.ts';
import { isMistaken, mergedInto, readContact } from './read-contact.ts';
import type { ContactInput, WrittenContact } from './write.ts';

/** The services that a batch of contacts calls. */
export interface BatchCommands extends ContactCommands {
  /** The public URL of the service without a trailing slash, with which the links in errors begin. */
  readonly baseUrl: string;
}

type BatchCall = Call<unknown, unknown, { readonly contacts: readonly unknown[] }>;

/**
 * A batch as it was read: every place has its mistakes, or the number of the contact that it is written as.
 */
interface ReadBatch {
  readonly contacts: readonly ContactInput[];
  readonly places: readonly (readonly Detail[] | number)[];
}

const checkContact = compileChecker(NewContact);

/**
 * Adds and merges up to a thousand contacts in one statement; an invalid one does not hold the others back.
 */
export async function writeContactBatch(
  commands: BatchCommands,
  call: BatchCall,
): Promise<readonly ContactBatchItem[] | Failure | Replay> {
  const batch = readBatch(commands, call);
  const keyed = keyedBy(call);
  const done = await idempotently<readonly WrittenContact[]>(commands.database, keyed, {
    run: () => writeOnClock(commands, call, batch.contacts, true),
    open: storedOutcomes,
    // Without a contact there is no statement that would find the reply of another request with this key.
    lookFirst: batch.contacts.length === 0,
  });
  // The request of a repetition is the same, so that the places are read alike again.
  if (done instanceof Replay)
    return new Replay(done.status, itemsOf(batch, done.body as WrittenContact[], commands.baseUrl));
  return Array.isArray(done) ? itemsOf(batch, done, commands.baseUrl) : (done as Failure);
}

function readBatch({ signer }: ContactCommands, { caller, body, now }: BatchCall): ReadBatch {
  const reading = { signer, workspaceId: caller.workspaceId, now };
  const byAddress = new Map<string, ContactInput>();
  const places = body.contacts.map((contact, index) => {
    const at = `/body/contacts/${index}`;
    const wrong = checkContact(contact, at);
    if (wrong) return wrong;
    const read = readContact(contact as NewContact, reading, { ord: index, at });
    if (isMistaken(read)) return read;
    const first = byAddress.get(read.email_key);
    const merged = first ? mergedInto(first, read) : read;
    if (Object.keys(merged.properties).length > MOST_PROPERTIES)
      return [tooManyProperties(`${at}/properties`)];
    byAddress.set(read.email_key, merged);
    return first?.ord ?? index;
  });
  return { contacts: [...byAddress.values()], places };
}

function itemsOf(
  { places }: ReadBatch,
  written: readonly WrittenContact[],
  baseUrl: string,
): ContactBatchItem[] {
  const outcomes = new Map(written.map((one) => [one.ord, one]));
  return places.map((place, index) => {
    const at = `/body/contacts/${index}/properties`;
    const one = typeof place === 'number' ? outcomes.get(place) : null;
    if (one?.outcome === 'created' || one?.outcome === 'updated')
      return { index, id: one.id, created: one.outcome === 'created' && place === index };
    const details = typeof place === 'number' ? [tooManyProperties(at)] : place;
    return { index, error: itemError(invalid(details), baseUrl) };
  });
}
