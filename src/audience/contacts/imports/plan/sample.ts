import { answeredOnce } from '../../../../http/request/idempotent.ts';
import type { Call, Replay } from '../../../../http/request/route.ts';
import { BrokenEncoding, EncodingDetector } from '../../../../platform/csv/encoding.ts';
import type { Database } from '../../../../platform/db/database.ts';
import { Failure, invalid, invalidAt } from '../../../../platform/errors/failure.ts';
import type { PlanQuery, PlanView } from '../model.ts';
import { FilePlanner, readMapping } from './planner.ts';
import { targetText } from './targets.ts';
import { typesThere } from './types-there.ts';

/** Cells of a column that are shown, and characters of each. */
const MOST_CELLS = 3;
const LONGEST_CELL = 80;

type PlanCall = Call<unknown, PlanQuery, Uint8Array>;

/** Says how a file would be read, by its beginning: nothing is stored, and no contact is changed. */
export const planImport = (
  { database }: { readonly database: Database },
  call: PlanCall,
): Promise<PlanView | Failure | Replay> => answeredOnce(database, call, () => plan(database, call));

async function plan(database: Database, { caller, query, body }: PlanCall): Promise<PlanView | Failure> {
  const mapping = readMapping(query.columns);
  if (mapping instanceof Failure) return mapping;
  const planner = new FilePlanner({ mapping, filename: query.filename }, body.length);
  const detector = new EncodingDetector();
  try {
    const begun = detector.take(query.partial ? wholeCharacters(body) : body);
    const { rest, encoding, stored } = detector.end();
    const beginning = Buffer.concat([begun, rest]);
    planner.take(beginning);
    const read = await planner.end({ beginning, isWhole: !query.partial }, { encoding, stored }, (keys) =>
      typesThere(database, caller, keys),
    );
    if (!('plan' in read)) return invalid(read);
    const { headers, targets, warnings = [], delimiter } = read.plan;
    return {
      encoding,
      delimiter,
      columns: headers.map((header, at) => ({
        header,
        target: targetText(targets[at] ?? null),
        cells: read.rows
          .flatMap(({ cells }) => (cells[at] ? [cells[at].slice(0, LONGEST_CELL)] : []))
          .slice(0, MOST_CELLS),
      })),
      warnings: [...warnings],
      problems: [...read.problems],
    };
  } catch (error) {
    if (error instanceof BrokenEncoding) return invalidAt('/body', error.message);
    throw error;
  }
}

/** The beginning of a file up to its last line end, so that no character is cut in half. */
function wholeCharacters(body: Uint8Array): Uint8Array {
  const [first = 1, second = 1] = body;
  const isWide = first === 0xff || first === 0xfe || first === 0 || second === 0;
  const end = Math.max(body.lastIndexOf(10), body.lastIndexOf(13));
  if (end === -1) return body;
  return body.subarray(0, isWide ? (end + 2) & ~1 : end + 1);
}
