import type { Facts } from './readers.ts';

/** A message about which the readers differ in a field, this service from both others. */
export interface Difference {
  readonly source: string;
  readonly raw: string;
  readonly field: keyof Facts;
  readonly ours: string;
  readonly mailparser: string;
  readonly python: string;
}

const words = (text: string): readonly string[] =>
  text
    .replace(/<[^>]*>/g, ' ')
    .split(/\s+/)
    .filter(Boolean);

/** True when the second text has every word of the first, in the same order. */
function holds(part: string, whole: string): boolean {
  const wanted = words(part);
  let at = 0;
  for (const word of words(whole)) if (word === wanted[at]) at++;
  return at === wanted.length;
}

const withoutMarks = (text: string): string => text.replace(/>\s*/g, '');
const mailboxes = (text: string): readonly string[] => text.split(',');

/** The differences that are as they are meant to be, each with its reason. */
export const JUDGED: Readonly<Record<string, (one: Difference) => boolean>> = {
  'Every text beside html is shown in the html too, and the other way round: a footer of a list is part of the message.':
    ({ field, ours, python }) =>
      (field === 'html' || field === 'text') &&
      (python !== '' || words(ours).length === 0) &&
      holds(python, ours),
  'The others show replacement characters for letters of Windows-1252 whose charset is missing or wrong.': ({
    ours,
    mailparser,
    python,
  }) => !ours.includes('\ufffd') && (mailparser.includes('\ufffd') || python.includes('\ufffd')),
  'A list of mailboxes is shown up to its hundredth.': ({ ours, python }) =>
    mailboxes(ours).length === 100 && mailboxes(python).slice(0, 100).join() === ours,
  'Parts are read to a depth of 50; of a deeper message the header is shown.': ({ raw, ours }) =>
    ours === '' && (raw.match(/^content-type:\s*multipart/gim)?.length ?? 0) > 50,
  'A Message-ID without brackets is none (RFC 5322 3.6.4).': ({ field, ours, python }) =>
    field === 'messageId' && ours === '' && !python.startsWith('<'),
  'Lines of format=flowed are joined without the quote marks of each (RFC 3676 4.5), which the others keep.':
    ({ raw, field, ours, python }) =>
      field === 'text' && /format="?flowed/i.test(raw) && withoutMarks(ours) === withoutMarks(python),
  'UTF-7 (RFC 2152) is not read: no program writes it any more.': ({ raw }) =>
    /charset="?(?:unicode-1-1-)?utf-7/i.test(raw),
  'From is there more than once, against RFC 5322 3.6: DMARC fails, and each reader shows another.': ({
    raw,
    field,
  }) => field === 'from' && (raw.split('\r\n\r\n')[0]?.match(/^from(?:\r\n)?[ \t]*:/gim) ?? []).length > 1,
  'Content-Type is "text" alone: each reader makes something else of the file.': ({ raw, field }) =>
    field === 'files' && /^content-type: text(?:;.*)?\r$/im.test(raw),
  'Lines that look like delimiters of outer parts are in inner ones: each reader ends them elsewhere.': ({
    source,
  }) => source.endsWith('test_email/data/msg_38.txt'),
  'Base64 that ends within a group: each reader decodes another length, or takes the type from the name of the file.':
    ({ source }) => source.endsWith('functional/messages/fname.eml'),
};
