import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import { AlternativeReply, type Call, Replay } from '../../http/request/route.ts';
import { type KeyedRequest, replyParameters } from '../../platform/db/stored-replies.ts';
import { Failure, invalid, notFound } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { clockOfHeader, type StandingClock } from '../../sending/emails/commands.ts';
import { type ContactCommands, findContact } from './lists/contact-rows.ts';
import type { ContactView, NewContact } from './model.ts';
import { tooManyProperties } from './properties.ts';
import { isMistaken, readContact } from './read-contact.ts';
import { type ContactInput, WRITE_CLOCKED_CONTACTS, WRITE_CONTACTS, type WrittenContact } from './write.ts';

// biome-ignore lint/performance/noBarrelFile: what other modules may do with contacts, beside the commands themselves.
export { type ChangeDeps, changeContact, changeStatus, leaveAgain } from './change.ts';
export type { ForgettingHooks } from './forgetting/eraser.ts';

/** The number of times that a statement is repeated when another request adds the same address. */
const MOST_TRIES = 3;

const KNOWN = new Failure('CONFLICT', 'A contact with this address exists.', {
  suggestion: 'Change it with PATCH, or send the request with upsert=true.',
});

/**
 * Writes contacts, each address at most once. Every one of them is in the answer. @throws UnavailableError
 */
export async function writeContacts(
  { database }: Pick<ContactCommands, 'database'>,
  contacts: readonly ContactInput[],
  merges: boolean,
  keyed: KeyedRequest,
  clockId: string | null = null,
): Promise<readonly WrittenContact[]> {
  let missing = contacts;
  const done: WrittenContact[] = [];
  for (let tries = 0; missing.length > 0; tries++) {
    if (tries === MOST_TRIES)
      throw new UnavailableError('These contacts are being changed by others.', 'unknown');
    const { scope, now } = keyed;
    const rows = await database.query<WrittenContact>(clockId ? WRITE_CLOCKED_CONTACTS : WRITE_CONTACTS, [
      JSON.stringify(missing),
      scope.workspaceId,
      scope.livemode,
      new Date(now).toISOString(),
      merges,
      // The key is taken once, by the first of the statements.
      ...replyParameters(tries === 0 ? keyed : { ...keyed, claim: null }, 200),
      ...(clockId ? [clockId] : []),
    ]);
    done.push(...rows);
    const written = new Set(rows.map(({ ord }) => ord));
    missing = missing.filter(({ ord }) => !written.has(ord));
  }
  return done;
}

/** A contact that a request made or found. */
interface ContactResult {
  readonly id: string;
  readonly created: boolean;
}

const madeOf = ({ id, outcome }: WrittenContact): ContactResult => ({ id, created: outcome === 'created' });

/** Reads the stored reply of contacts that were written. */
export const storedOutcomes = (reply: string): readonly WrittenContact[] =>
  (JSON.parse(reply) as [number, string, WrittenContact['outcome']][]).map(([ord, id, outcome]) => ({
    ord,
    id,
    outcome,
  }));

/** The test clock that the header of a request names. @throws UnavailableError */
export const clockOfRequest = (
  { testClocks }: Pick<ContactCommands, 'testClocks'>,
  { caller, headers }: Pick<Call, 'caller' | 'headers'>,
): Promise<StandingClock | Failure> | Failure | null =>
  testClocks ? clockOfHeader(testClocks, caller, headers) : null;

/** Writes the contacts of a request, and adds new ones to its test clock. @throws UnavailableError */
export async function writeOnClock(
  commands: Pick<ContactCommands, 'database' | 'testClocks'>,
  call: Pick<Call, 'caller' | 'claim' | 'now' | 'headers'>,
  contacts: readonly ContactInput[],
  merges: boolean,
): Promise<readonly WrittenContact[] | Failure> {
  const clock = await clockOfRequest(commands, call);
  if (clock instanceof Failure) return clock;
  const clocks = commands.testClocks?.();
  if (!clock || !clocks) return writeContacts(commands, contacts, merges, keyedBy(call));
  const { workspaceId } = call.caller;
  const most = { what: 'contacts', count: contacts.length } as const;
  const refused = await clocks.enter(workspaceId, clock, most);
  if (refused) return refused;
  const written = await writeContacts(commands, contacts, merges, keyedBy(call), clock.id);
  const others = written.filter(({ outcome }) => outcome !== 'created').length;
  if (others > 0) await clocks.left(workspaceId, clock, { ...most, count: others });
  clocks.entered(workspaceId, clock);
  return written;
}

/** Adds a contact; `upsert` merges it into one that is there. */
export async function createContact(
  commands: ContactCommands,
  call: Call<unknown, { readonly upsert: boolean }, NewContact>,
): Promise<ContactView | AlternativeReply<ContactView> | Failure | Replay> {
  const { caller, query, body, now } = call;
  const { database, signer } = commands;
  const contact = readContact(
    body,
    { signer, workspaceId: caller.workspaceId, now },
    { ord: 0, at: '/body' },
  );
  if (isMistaken(contact)) return invalid(contact);
  const made = await idempotently<ContactResult>(database, keyedBy(call), {
    run: async () => {
      const done = await writeOnClock(commands, call, [contact], query.upsert);
      if (done instanceof Failure) return done;
      const [written] = done;
      if (!written || written.outcome === 'known') return KNOWN;
      return written.outcome === 'full' ? invalid([tooManyProperties('/body/properties')]) : madeOf(written);
    },
    open: (reply) => storedOutcomes(reply).map(madeOf)[0],
  });
  if (made instanceof Failure) return made;
  const { id, created } = made instanceof Replay ? (made.body as ContactResult) : made;
  const view = await findContact(commands, caller, id);
  // It may have been forgotten since.
  if (!view) return notFound('contact');
  if (made instanceof Replay) return new Replay(created ? 201 : 200, view);
  return created ? view : new AlternativeReply(view);
}
