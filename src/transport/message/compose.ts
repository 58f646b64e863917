/**
 * Composes an email as the octets of RFC 5322 and MIME, before it is signed.
 *
 * The same email gives the same octets in every attempt: the date and the message id come with it, and the part
 * boundaries from its id. A receiver that has the first copy can therefore recognise the second.
 */
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import type { Mailbox, MessageAttachment, MessageHeader, OutboundMessage } from '../transport.ts';

/** The whole message without its DKIM signatures. Blind copies are in the envelope alone. */
export const compose = (message: OutboundMessage): Promise<Buffer> =>
  new MailComposer({
    from: named(message.from),
    to: message.to.length > 0 ? message.to.map(named) : NOBODY_VISIBLE,
    cc: message.cc.map(named),
    replyTo: message.replyTo.map(named),
    subject: asWritten(message.subject),
    messageId: message.messageId,
    date: new Date(message.date),
    headers: [...message.headers.map(header), ...unsubscribeHeaders(message)],
    ...(message.text === null ? {} : { text: withLineEnds(message.text) }),
    ...(message.html === null ? {} : { html: withLineEnds(message.html) }),
    attachments: message.attachments.map(attachment),
    baseBoundary: message.emailId,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();

// RFC 5322 3.6.3 wants at least one destination field; an empty group says that the recipients are hidden.
const NOBODY_VISIBLE = 'undisclosed-recipients:;';

// Mailboxes are passed as objects: the composer parses lists and groups in a string, so that a forged name reaches others (measured).
const named = ({ name, address }: Mailbox) => ({ name: name ?? '', address });

const header = ({ name, value }: MessageHeader) => ({
  key: name,
  value: STRUCTURED.test(name) ? value : asWritten(value),
});

// Fields of ids, addresses and URLs in angle brackets, where an encoded word has no place (RFC 2047 5).
const STRUCTURED = /^(?:in-reply-to|references|list-.*|resent-.*|disposition-notification-to|errors-to)$/i;

// A field that the sender has set stays the only one: RFC 2369 3 allows each once, and a second breaks one-click.
const unsubscribeHeaders = ({ unsubscribe, headers }: OutboundMessage) => {
  if (unsubscribe === null || headers.some((own) => /^list-unsubscribe/i.test(own.name))) return [];
  const mailto = unsubscribe.mailto === null ? '' : `, <mailto:${unsubscribe.mailto}>`;
  return [
    { key: 'List-Unsubscribe', value: `<${unsubscribe.url}>${mailto}` },
    // RFC 8058 3.1 requires exactly this value.
    { key: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
  ];
};

const attachment = (file: MessageAttachment) => ({
  filename: file.filename,
  content: Buffer.from(file.content.buffer, file.content.byteOffset, file.content.byteLength),
  // RFC 2046 5.2.1 and 5.1 forbid base64 for these two families. Unencoded, such a part would carry the sender's bare
  // line feeds and endless lines onto the wire; as octets it arrives unharmed, and the file name still opens it.
  ...(file.contentType === null
    ? {}
    : { contentType: COMPOSITE.test(file.contentType) ? OCTETS : file.contentType }),
  ...(file.contentId === null ? {} : { cid: file.contentId }),
});

const COMPOSITE = /^\s*(message|multipart)\//i;
const OCTETS = 'application/octet-stream';

// SMTP knows CRLF alone; strict receivers refuse bare CR and LF, since smuggling hides behind them. Only texts can
// bring any: the rest is base64 or the composer's own. (Its `newline: 'windows'` would read every octet again, at half
// the speed, measured, and leaves a bare CR where it is.)
const withLineEnds = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n');

// Two things have to be encoded although they are ASCII. A word longer than the 998 octets of RFC 5322 2.1.1, since folding
// happens at white space only. And what begins like an encoded word, which the composer lets stand where it is a valid one: a
// reader would decode what the sender meant literally, and readers differ in how much they take for one.
const asWritten = (value: string): string =>
  UNBREAKABLE.test(value) || ENCODED_WORD.test(value)
    ? encodeWord(value, 'Q', 52).replace(/\r?\n/g, ' ')
    : value;
const UNBREAKABLE = /\S{900,}/;
const ENCODED_WORD = /=\?[^?]*\?[bq]\?/i;
