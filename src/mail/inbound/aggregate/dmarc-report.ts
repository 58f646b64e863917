import { isIP } from 'node:net';
import {
  countIn,
  DISPOSITIONS,
  type Disposition,
  type DmarcReport,
  type DmarcRow,
  dayOfPeriod,
  domainIn,
  labelIn,
} from './aggregate-report.ts';
import { readXml } from './read-xml.ts';

/** Rows of a report. The largest reports of large receivers have some thousand; more are refused. */
const MOST_ROWS = 20_000;

/**
 * A row before the domain of the policy is known, with null for a domain that cannot be read: DMARC has it
 * below that of the policy.
 */
type Row = Omit<DmarcRow, 'from'> & { readonly from: string | null };

/** The texts of a record, by their paths below `record`. */
type Texts = Map<string, string>;

const PATHS = {
  source: 'row/source_ip',
  count: 'row/count',
  disposition: 'row/policy_evaluated/disposition',
  dkim: 'row/policy_evaluated/dkim',
  spf: 'row/policy_evaluated/spf',
  from: 'identifiers/header_from',
} as const;

/**
 * Reads a DMARC aggregate report: of RFC 9990 (with its namespace, `np`, `testing`, and the disposition
 * `pass`), of RFC 7489, and of the drafts before, with what real servers make of them: upper case, white
 * space, records without results. Null for anything else.
 */
export function readDmarcReport(xml: string, now: number): DmarcReport | null {
  const head: Texts = new Map();
  const found: Row[] = [];
  let record: Texts = new Map();
  let isOver = false;
  const isRead = readXml(
    xml,
    'feedback',
    (path, text) => {
      const texts = path.startsWith('record/') ? record : head;
      const key = path.startsWith('record/') ? path.slice('record/'.length) : path;
      if (!texts.has(key) && texts.size < 100) texts.set(key, text);
    },
    (path) => {
      if (path !== 'record') return;
      const row = rowOf(record);
      record = new Map();
      if (row === null) return;
      if (found.length < MOST_ROWS) found.push(row);
      else isOver = true;
    },
  );
  if (!isRead || isOver) return null;
  const domain = domainIn(head.get('policy_published/domain') ?? '');
  const day = dayOfPeriod(momentOf(head, 'begin'), momentOf(head, 'end'), now);
  const id = labelIn(head.get('report_metadata/report_id') ?? '');
  if (domain === null || day === null || id === '') return null;
  return {
    kind: 'dmarc',
    id,
    organization: labelIn(head.get('report_metadata/org_name') ?? ''),
    day,
    policy: {
      domain,
      p: word(head.get('policy_published/p')) || null,
      isTesting: word(head.get('policy_published/testing')) === 'y',
    },
    rows: found.map((row) => ({ ...row, from: row.from ?? domain })),
  };
}

/** Seconds; some servers write milliseconds. */
function momentOf(head: Texts, end: 'begin' | 'end'): number {
  const seconds = Number(head.get(`report_metadata/date_range/${end}`) || 'NaN');
  return seconds > 100_000_000_000 ? seconds : seconds * 1_000;
}

function rowOf(record: Texts): Row | null {
  const source = record.get(PATHS.source)?.toLowerCase() ?? '';
  const messages = countIn(record.get(PATHS.count));
  const from = record.get(PATHS.from) ?? '';
  if (isIP(source) === 0 || messages === null || messages === 0 || from === '') return null;
  return {
    source,
    messages,
    disposition: dispositionIn(record.get(PATHS.disposition)),
    isDkimAligned: word(record.get(PATHS.dkim)) === 'pass',
    isSpfAligned: word(record.get(PATHS.spf)) === 'pass',
    from: domainIn(from),
  };
}

const word = (text: string | undefined): string => (text ?? '').trim().toLowerCase();

/** RFC 9990 has `pass` for mail that needed no policy: nothing was done to it. */
const dispositionIn = (text: string | undefined): Disposition =>
  DISPOSITIONS.find((disposition) => disposition === word(text)) ?? 'none';
