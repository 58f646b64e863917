/** The fields and the first text of a message that is beyond the limits of the parser. */
import type { Email } from 'postal-mime';
import { endOfHeader, joinFields, LARGEST_HEADER, readFields } from '../header-editor.ts';
import { openedLeavesOf, SHOWN } from '../mime-tree.ts';
import { LARGEST_TEXT } from './charsets.ts';
import { PARSER_LIMITS, parseMessage } from './parsable.ts';

const CONTENT = /^content-/;

/** Reads the fields of a message, and its first text within the limits, without any other part. */
export async function parseFirstText(message: Buffer): Promise<Email | null> {
  const header = Math.min(endOfHeader(message), LARGEST_HEADER);
  const fields = readFields(message.toString('latin1', 0, header));
  const own = joinFields(fields.filter(({ name }) => !CONTENT.test(name)));
  const text = firstTextOf(message);
  const email =
    (text && (await parseMessage(Buffer.concat([own, ...text]), PARSER_LIMITS))) ??
    (await parseMessage(own, PARSER_LIMITS));
  if (email === null) return null;
  // The fields of the text describe this message no more than those of any part.
  const about = await parseMessage(joinFields(fields), PARSER_LIMITS);
  return { ...email, headers: about?.headers ?? email.headers.filter(({ key }) => !CONTENT.test(key)) };
}

/** The content fields and the content of the first text; null where there is none. */
function firstTextOf(message: Buffer): readonly Buffer[] | null {
  if (endOfHeader(message) > LARGEST_HEADER) return null;
  const text = openedLeavesOf(message).find(({ type, isAttachment }) => SHOWN.test(type) && !isAttachment);
  if (text === undefined || text.body === text.end) return null;
  const { start, body, end } = text;
  const fields = readFields(message.toString('latin1', start, Math.min(body, start + LARGEST_HEADER)));
  const content = message.subarray(body, Math.min(end, body + LARGEST_TEXT));
  return [joinFields(fields.filter(({ name }) => CONTENT.test(name))), Buffer.from('\r\n'), content];
}
