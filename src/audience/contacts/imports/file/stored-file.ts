import { eq } from 'drizzle-orm';
import type { FilePlace } from '../../../../../machines/contact-import/context.ts';
import { ReceivedBody } from '../../../../http/request/route.ts';
import { untilNextTurn } from '../../../../platform/async/batcher.ts';
import { BrokenEncoding, EncodingDetector } from '../../../../platform/csv/encoding.ts';
import type { Database } from '../../../../platform/db/database.ts';
import { mintId } from '../../../../platform/db/ids.ts';
import { contactImportChunks } from '../../../../platform/db/schema/imports.ts';
import { Failure, invalid, invalidAt } from '../../../../platform/errors/failure.ts';
import type { Scope } from '../../lists/contact-rows.ts';
import type { ImportPlan } from '../plan/plan.ts';
import { FilePlanner, readMapping } from '../plan/planner.ts';
import { typesThere } from '../plan/types-there.ts';

/** The bytes of a stored piece: five thousand rows, or a quarter of a second of work. */
export const PIECE = 262_144;

const STORE = `insert into contact_import_chunks (import_id, n, content) values ($1, $2, decode($3, 'base64'))`;
const READ = `select encode(content, 'base64') as content from contact_import_chunks where import_id = $1 and n = $2`;

/** Deletes the pieces of a file. @throws UnavailableError */
const drop = (database: Database, importId: string): Promise<unknown> =>
  database.read((orm) => orm.delete(contactImportChunks).where(eq(contactImportChunks.importId, importId)));

/** A file that was stored under the id of the import to be. */
export class StoredFile extends ReceivedBody {
  constructor(
    private readonly database: Database,
    readonly id: string,
    digest: string,
    /** Bytes as they are stored. */
    readonly bytes: number,
    readonly plan: ImportPlan,
    /** The start of the first row after the header. */
    readonly first: FilePlace,
    /** Audiences that its rows name. */
    readonly audiences: readonly string[],
  ) {
    super(digest);
  }

  protected async discard(): Promise<void> {
    await drop(this.database, this.id);
  }
}

/** The request to store a file. */
export interface ImportFileRequest {
  readonly database: Database;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly scope: Scope;
  /** The `columns` of the request, as text. */
  readonly columns: string | undefined;
  readonly filename: string | undefined;
}

/**
 * Stores a file while it arrives, a piece at a time. Its header is read before the file is taken. @throws
 * UnavailableError, BrokenBody
 */
export async function storeFile(
  pieces: AsyncIterable<Uint8Array>,
  { database, now, scope, columns, filename }: ImportFileRequest,
): Promise<StoredFile | Failure> {
  const mapping = readMapping(columns);
  if (mapping instanceof Failure) return mapping;
  const planner = new FilePlanner({ mapping, filename }, PIECE);
  const id = mintId('imp', now);
  const writer = new PieceWriter(database, id);
  const detector = new EncodingDetector();
  const hash = new Bun.CryptoHasher('sha256');
  try {
    for await (const piece of pieces) {
      hash.update(piece);
      const bytes = detector.take(piece);
      planner.take(bytes);
      await writer.write(bytes);
    }
    const { rest, encoding, stored } = detector.end();
    planner.take(rest);
    await writer.write(rest);
    await writer.end();
    const begun = { beginning: writer.beginning, isWhole: writer.beginning.length === writer.bytes };
    const read = await planner.end(begun, { encoding, stored }, (keys) => typesThere(database, scope, keys));
    if ('plan' in read && read.problems.length === 0)
      return new StoredFile(
        database,
        id,
        hash.digest('hex'),
        writer.bytes,
        read.plan,
        read.first,
        read.audiences,
      );
    await drop(database, id);
    return invalid('plan' in read ? read.problems : read);
  } catch (error) {
    await drop(database, id);
    if (error instanceof BrokenEncoding) return invalidAt('/body', error.message);
    throw error;
  }
}

/** Writes bytes as pieces of one length, so that a place in the file names its piece. */
class PieceWriter {
  readonly #piece = new Uint8Array(PIECE);
  #filled = 0;
  #count = 0;
  /** The first piece, or what there is of it. */
  beginning: Uint8Array = new Uint8Array();

  constructor(
    private readonly database: Database,
    private readonly id: string,
  ) {}

  get bytes(): number {
    return this.#count * PIECE + this.#filled;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + PIECE - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === PIECE) await this.#store();
    }
  }

  async end(): Promise<void> {
    if (this.#count === 0) this.beginning = this.#piece.slice(0, this.#filled);
    if (this.#filled > 0) await this.#insert();
  }

  async #store(): Promise<void> {
    if (this.#count === 0) this.beginning = this.#piece.slice();
    await this.#insert();
    this.#count++;
    this.#filled = 0;
  }

  async #insert(): Promise<void> {
    const content = Buffer.from(this.#piece.buffer, 0, this.#filled).toString('base64');
    await this.database.query(STORE, [this.id, this.#count, content]);
    // The embedded database answers without letting go of the thread: a long file that arrives at once would
    // delay all other requests.
    await untilNextTurn();
  }
}

/** The bytes of a stored piece; null when it is not there. */
export async function readPiece(database: Database, id: string, n: number): Promise<Uint8Array | null> {
  const [row] = await database.query<{ content: string }>(READ, [id, n]);
  return row ? Buffer.from(row.content, 'base64') : null;
}
