/**
 * The human-readable part of a report. Many servers say there alone why a delivery failed. Reading takes one pass over lines that are
 * cut, because a stranger wrote them.
 */

/** The words about one address. */
export interface Section {
  readonly address: string;
  /** The alias that the address is a target of. */
  readonly generatedFrom: string | null;
  /** The reply of the remote server from its code on, or the words of the reporting one. */
  readonly diagnostic: string;
}

const MOST_LINES = 2_000;
const LONGEST_LINE = 1_000;
const MOST_SECTIONS = 50;
const MOST_LINES_OF_SECTION = 60;

/** An address that begins a line, with what follows it: Postfix, qmail, Exim, Courier, OpenSMTPD and others write it so. */
const AT_START =
  /^\s{0,12}(?:[-*]{1,2} {0,4})?["'<]{0,2}([^\s<>"':,;()[\]]{1,64}@[a-z0-9.-]{1,255}[a-z0-9])["'>]{0,2}(?:[\s:(](.*))?$/i;
/** An address behind a phrase that introduces it: dma, Haraka, SmarterMail, Oracle. */
const AFTER_PHRASE =
  /\b(?:delivering your mail to|delivered to|intended recipients?|failed recipients?|recipient address|unknown user):? {0,4}["'<]{0,2}([^\s<>"':,;()[\]]{1,64}@[a-z0-9.-]{1,255}[a-z0-9])/i;
/** The output of a program that an address is delivered to (Exim). */
const PROGRAM = /^-{2,12} {0,4}<?([^\s<>]{1,64}@[^\s<>]{1,255}?)>? {0,4}-{2,12}$/;
/** A heading between rules: "----- Transcript of session follows -----". */
const RULE = /^\s{0,12}-{3,40}.{0,100}-{3,40}$/;
const GENERATED = /^\s{0,12}\((?:ultimately )?generated from ([^\s()]{1,64}@[^\s()]{1,255})\)/;
/** The beginning of the returned message. */
const RETURNED =
  /^\s{0,12}-{2,40}.{0,80}\b(?:copy|original|returned|header|below)|^\s{0,12}(?:message headers follow|original message follows|below is a copy)/i;

interface Draft {
  readonly address: string;
  generatedFrom: string | null;
  readonly lines: string[];
  /** The output of the program that the address is delivered to. */
  program?: string[];
}

/** The lines of a text up to the returned message. */
export const linesOfReport = (text: string): string[] => {
  const lines = text.split(/\r?\n/, MOST_LINES).map((line) => line.slice(0, LONGEST_LINE));
  const end = lines.findIndex((line) => RETURNED.test(line));
  return end === -1 ? lines : lines.slice(0, end);
};

/** The sections of a report, in its order. */
export const sectionsOf = (text: string): Section[] => {
  const drafts: Draft[] = [];
  for (const line of linesOfReport(text)) {
    const current = drafts.at(-1);
    const [address, rest] = addressIn(line);
    const generated = GENERATED.exec(line)?.[1];
    // The address comes again within its own section: "SMTP error after RCPT TO:", "<bob@receiver.example>:".
    if (address !== null && current?.address !== address) {
      if (drafts.length === MOST_SECTIONS) break;
      drafts.push({ address, generatedFrom: null, lines: [rest] });
    } else if (generated !== undefined && current) current.generatedFrom = generated.toLowerCase();
    else if (RULE.test(line) && !PROGRAM.test(line)) continue;
    else if (current && PROGRAM.test(line)) current.program = [];
    else if (current) add(line.trim(), current.program ?? current.lines);
  }
  return drafts.map(({ address, generatedFrom, lines, program }) => ({
    address,
    generatedFrom,
    diagnostic: [lines, program ?? []]
      .map((part) => diagnosticIn(part.join('\n')))
      .filter((part) => part !== '')
      .join(': '),
  }));
};

const add = (line: string, lines: string[]): void => {
  if (lines.length < MOST_LINES_OF_SECTION) lines.push(line);
};

const addressIn = (line: string): readonly [string | null, string] => {
  const program = PROGRAM.exec(line);
  if (program) return [(program[1] as string).toLowerCase(), ''];
  const [, address, rest = ''] = AT_START.exec(line) ?? AFTER_PHRASE.exec(line) ?? [];
  return [address?.toLowerCase() ?? null, rest.replace(/^[:)\s]{1,20}/, '').trim()];
};

/**
 * The reply in a text, from its code to the end of its paragraph, or the first paragraph. A number in a sentence is no code: it
 * has to be followed by a status, or to begin a line or a quotation.
 */
export const diagnosticIn = (text: string): string => {
  const within = text.slice(0, 8_000);
  const found = WITH_STATUS.exec(within) ?? QUOTED.exec(within);
  const from = found === null ? within : within.slice(found.index).replace(/^[^245]{1,12}/, '');
  const paragraphs = from.trim().split(/\n\s*\n/, 4);
  // "The response was:" announces the next paragraph.
  const [first] = paragraphs.filter((paragraph) => !paragraph.trimEnd().endsWith(':'));
  return (first ?? paragraphs[0] ?? '').replace(/\s+/g, ' ').trim();
};

const WITH_STATUS = /(?<![\d.])[45]\d\d[ -](?:#|')?[45]\.\d{1,3}\.\d{1,3}(?![\d.])/;
const QUOTED = /(?:^|\n|[:;<>("'] {0,4}|\bsaid:? {1,4})[45]\d\d(?=[ -]\S)/;
