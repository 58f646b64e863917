import { LEAVINGS } from '../../../../mail/list-files/consent-words.ts';
import type { Signer } from '../../../../platform/crypto/signer.ts';
import type { Database } from '../../../../platform/db/database.ts';
import { forgottenKey, leftKeys } from '../../../../sending/suppressions/queries.ts';
import type { Scope } from '../../lists/contact-rows.ts';
import { type KnownContact, knownContacts } from '../../queries.ts';
import type { ImportedContact, RowBatch } from '../file/rows.ts';
import type { Preview, UnknownAddress, WorkedRows } from '../kind.ts';

interface PreviewDeps {
  readonly database: Database;
  readonly signer: Signer;
}

const NOTHING: Preview = { updated: 0, skipped: 0, lowered: 0, keptOut: 0, unknown: [] };

/**
 * Looks for what only the contacts that are there can tell of rows, without changing any. @throws
 * UnavailableError
 */
export async function previewOf(
  deps: PreviewDeps,
  scope: Scope,
  batch: RowBatch,
  { dryRun, merges }: { readonly dryRun: boolean; readonly merges: boolean },
): Promise<WorkedRows> {
  const known = await knownContacts(deps.database, scope, batch.contacts);
  const byPlace = new Map<number, KnownContact>(known.map((contact) => [contact.ord, contact]));
  const full = merges
    ? batch.contacts.filter(({ ord, is_refused }) => !is_refused && byPlace.get(ord)?.isFull)
    : [];
  const others = batch.contacts.filter((contact) => !full.includes(contact) && !contact.is_refused);
  const sum = (contacts: typeof others) => contacts.reduce((total, { repeats }) => total + repeats + 1, 0);
  const there = others.filter(({ ord }) => byPlace.has(ord));
  const missing = others.filter(({ ord }) => !byPlace.has(ord));
  const again = missing.reduce((total, { repeats }) => total + repeats, 0);
  const statusOf = ({ ord }: ImportedContact): string => byPlace.get(ord)?.status ?? 'subscribed';
  const preview = async (): Promise<Preview> => ({
    updated: merges ? sum(there) + again : 0,
    skipped: batch.skipped + (merges ? 0 : sum(there)),
    lowered: batch.contacts.filter((one) => byPlace.has(one.ord) && lowers(one, statusOf(one))).length,
    keptOut: there.filter((contact) => saysNothing(contact) && statusOf(contact) !== 'subscribed').length,
    unknown: await unknownOf(deps, scope, missing),
  });
  return {
    ...batch,
    refused: batch.refused + sum(full),
    faults: [...batch.faults, ...full.map(({ ord }) => [ord, null, 'too_many_properties'] as const)],
    preview: dryRun ? await preview() : NOTHING,
    isWritten: false,
  };
}

const LADDER: readonly string[] = ['subscribed', ...LEAVINGS];

const lowers = ({ leaves }: ImportedContact, status: string): boolean =>
  leaves !== null && LADDER.indexOf(leaves) > LADDER.indexOf(status);

const saysNothing = ({ leaves, begins_out }: ImportedContact): boolean => leaves === null && !begins_out;

async function unknownOf(
  { database, signer }: PreviewDeps,
  { workspaceId, livemode }: Scope,
  contacts: readonly ImportedContact[],
): Promise<readonly UnknownAddress[]> {
  const hashed = contacts.map((contact) => ({
    contact,
    hash: forgottenKey(signer, workspaceId, contact.email_key),
  }));
  const keys = hashed.flatMap(({ contact, hash }) => [contact.email_key, hash]);
  const out = livemode ? await leftKeys(database, workspaceId, keys) : new Set<string>();
  return hashed.map(({ contact, hash }) => ({
    hash,
    begins: !saysNothing(contact) ? 'out' : out.has(contact.email_key) || out.has(hash) ? 'kept' : null,
  }));
}
