import { RowSource } from '../../src/audience/contacts/imports/file/row-source.ts';
import { type RowBatch, readRows } from '../../src/audience/contacts/imports/file/rows.ts';
import { PIECE } from '../../src/audience/contacts/imports/file/stored-file.ts';
import { FilePlanner, type PlannedFile } from '../../src/audience/contacts/imports/plan/planner.ts';
import { targetText } from '../../src/audience/contacts/imports/plan/targets.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { EncodingDetector } from '../../src/platform/csv/encoding.ts';

const signer = createSigner('only-for-tests');

/** The parameters of a file beside its bytes. */
export interface FileRequest {
  readonly columns?: Readonly<Record<string, string | null>>;
  readonly filename?: string;
  readonly typesThere?: ReadonlyMap<string, 'number' | 'boolean'>;
  readonly merges?: boolean;
}

/** A file as an import reads it: its plan, and the rows that would be written. */
export interface ReadFile extends PlannedFile {
  readonly batch: RowBatch;
  /** The target of each column, as `columns` writes it. */
  readonly targets: Readonly<Record<string, string | null>>;
}

/** Plans a file and reads its rows, as an import does, without a database. */
export async function readContactFile(
  content: string | Uint8Array,
  request: FileRequest = {},
): Promise<ReadFile> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const detector = new EncodingDetector();
  const begun = detector.take(bytes);
  const { rest, encoding, stored } = detector.end();
  const file = Buffer.concat([begun, rest]);
  const planner = new FilePlanner({ mapping: request.columns ?? null, filename: request.filename }, PIECE);
  planner.take(file);
  const beginning = file.subarray(0, PIECE);
  const planned = await planner.end(
    { beginning, isWhole: beginning.length === file.length },
    { encoding, stored },
    async () => request.typesThere ?? new Map(),
  );
  if (!('plan' in planned)) throw new Error(planned.map(({ message }) => message).join(' '));
  const { plan, first } = planned;
  const piece = async (n: number) => file.subarray(n * PIECE, (n + 1) * PIECE);
  const source = new RowSource({ plan, bytes: file.length, piece }, first);
  const rows = [];
  for (let isLast = false; !isLast; ) {
    const taken = await source.take(10_000);
    rows.push(...taken.rows);
    isLast = taken.isLast;
  }
  const batch = await readRows(rows, {
    plan,
    signer,
    workspaceId: 'ws_1',
    hashes: false,
    audienceId: null,
    now: Date.UTC(2026, 10, 27),
    merges: request.merges ?? true,
    audienceOf: (name: string) => name,
  });
  const targets = Object.fromEntries(
    plan.headers.map((header, at) => [header, targetText(plan.targets[at] ?? null)]),
  );
  return { ...planned, batch, targets };
}

/** The status that each address of a file would begin with, and `refused` for rows that are not taken. */
export const statusesOf = ({ batch }: ReadFile): Readonly<Record<string, string>> =>
  Object.fromEntries(
    batch.contacts.map(({ email, leaves, begins_out }) => [
      email,
      leaves ?? (begins_out ? 'not subscribed' : 'subscribed'),
    ]),
  );
