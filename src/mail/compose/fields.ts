/** Header fields as both writers of a message take them: the plain one, and nodemailer's composer. */
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import type MimeNode from 'nodemailer/lib/mime-node';
import type { MessageHeader, OutboundMessage, Unsubscribe } from '../transport/transport.ts';

/** The fields that the sender has set, then those that offer to unsubscribe. */
export const ownFields = (
  message: Pick<OutboundMessage, 'headers' | 'unsubscribe'>,
): readonly MessageHeader[] => [
  ...message.headers.map(({ name, value }) => ({
    name,
    value: STRUCTURED.test(name) ? value : asWritten(value),
  })),
  ...unsubscribeFields(message),
];

// Fields of ids, addresses and URLs in angle brackets, where an encoded word has no place (RFC 2047 5).
const STRUCTURED = /^(?:in-reply-to|references|list-.*|resent-.*|disposition-notification-to|errors-to)$/i;

// A field that the sender has set stays the only one: RFC 2369 3 allows each once, and a second breaks
// one-click.
const unsubscribeFields = ({
  unsubscribe,
  headers,
}: Pick<OutboundMessage, 'headers' | 'unsubscribe'>): readonly MessageHeader[] => {
  if (unsubscribe === null || headers.some((own) => /^list-unsubscribe/i.test(own.name))) return [];
  return waysOut(unsubscribe);
};

/** The fields that offer to unsubscribe. */
export const waysOut = ({ url, mailto }: Unsubscribe): readonly [MessageHeader, MessageHeader] => [
  { name: 'List-Unsubscribe', value: mailto === null ? `<${url}>` : `<${url}>, <mailto:${mailto}>` },
  // RFC 8058 3.1 requires exactly this value.
  { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
];

/**
 * Text that a reader of the header shows as it was written. Foreign scripts are words in base64 here, since
 * the composer ends such words within a group of octets. Two things have to be encoded although they are
 * ASCII. A word longer than the 998 octets of RFC 5322 2.1.1, since folding happens at white space only. And
 * what begins like an encoded word, which the composer lets stand where it is a valid one: a reader would
 * decode what the sender meant literally, and readers differ in how much they take for one.
 */
export const asWritten = (value: string): string =>
  UNBREAKABLE.test(value) || ENCODED_WORD.test(value)
    ? encodeWord(value, 'Q', 52).replace(/\r?\n/g, ' ')
    : isForBase64(value)
      ? inWholeGroups(value)
      : value;
const UNBREAKABLE = /\S{900,}/;
const ENCODED_WORD = /=\?[^?]*\?[bq]\?/i;

// The composer writes such a text in base64, and any other one as quoted-printable, which has no padding. It
// counts halves of surrogate pairs, and encodes for a quote too.
const isForBase64 = (value: string): boolean =>
  /[^\t\n\r !#-~]/.test(value) &&
  (value.match(/[^\t\n\r -\x7f]/g)?.length ?? 0) >= (value.match(/[a-z]/gi)?.length ?? 0);

/** The octets of an encoded word in base64 whose characters, 52 with the frame, leave room for a fold. */
const MOST_OCTETS = 30;

/**
 * A text as encoded words in base64 of whole groups of three octets: GMime 3.2, by which Geary, Balsa and
 * notmuch read, loses all words behind one that ends with padding. A character behind which no group would
 * end, such as a digit before a Chinese text, is a word as quoted-printable.
 */
const inWholeGroups = (value: string): string => {
  const characters = [...value.toWellFormed().replace(/\r\n?|\n/g, ' ')];
  const words: string[] = [];
  for (let begin = 0, end = 0; begin < characters.length; begin = end) {
    let octets = 0;
    let at = begin;
    end = begin;
    for (; at < characters.length; at++) {
      octets += Buffer.byteLength(characters[at] as string);
      if (octets > MOST_OCTETS) break;
      if (octets % 3 === 0) end = at + 1;
    }
    if (at === characters.length) end = at;
    else if (end === begin) {
      words.push(encodeWord(characters[begin] as string, 'Q'));
      end = begin + 1;
      continue;
    }
    words.push(`=?UTF-8?B?${Buffer.from(characters.slice(begin, end).join('')).toString('base64')}?=`);
  }
  return words.join(' ');
};

/**
 * A field whose first line has its name alone: its first word, unless an encoded one, and the rest of the
 * second line.
 */
const NAME_ALONE = /^([!-9;-~]+:)\r\n[ \t](?!=\?)(\S{1,900})([^\r\n]*)/gm;

/**
 * Folded fields with their first word beside their name, which RFC 5322 2.1.1 allows a line of 998 octets
 * for. Python's `email` reads a space before a value that begins on the second line. An encoded word may lie
 * in a line of 76 octets alone (RFC 2047 2).
 */
export const besideNames = (fields: string): string =>
  fields.replace(NAME_ALONE, (_, name: string, word: string, rest: string) =>
    rest.trim() === '' ? `${name} ${word}${rest}` : `${name} ${word}\r\n${rest}`,
  );

/**
 * Has the composer begin each value beside its name, and write the names of addresses in whole groups too. It
 * would put an encoded word into quotation marks.
 */
export function forReaders<Node extends MimeNode>(node: Node): Node {
  const { _encodeAddressName: usual } = node as unknown as { _encodeAddressName(name: string): string };
  const encoded = (name: string): string =>
    /[^ -~]/.test(name) && isForBase64(name) ? inWholeGroups(name) : usual.call(node, name);
  const { buildHeaders } = node;
  node.childNodes.forEach(forReaders);
  return Object.assign(node, {
    _encodeAddressName: encoded,
    buildHeaders: () => besideNames(buildHeaders.call(node)),
  });
}

/** The group in To where no recipient is visible: RFC 5322 3.6.3 wants at least one destination field. */
export const NOBODY_VISIBLE = 'undisclosed-recipients:;';

/**
 * A text with the line ends of SMTP, which knows CRLF alone; strict receivers refuse bare CR and LF, since
 * smuggling hides behind them. Only texts can bring any: the rest is base64 or the writer's own. (The
 * composer's `newline: 'windows'` would read every octet again, at half the speed, measured, and leaves a
 * bare CR where it is.)
 */
export const withLineEnds = (text: string): string =>
  text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replaceAll('\n', '\r\n');

/** The moment, in epoch milliseconds, as a Date field writes it (RFC 5322 3.3). */
export const dateText = (at: number): string => new Date(at).toUTCString().replace('GMT', '+0000');
