import type { HtmlLock } from '../../../mail/raw/raw-mail.ts';

const SIGNED = 'a signature covers its octets';
const ENCRYPTED = 'it is encrypted';
const ENCLOSED = 'it is a message within the message';

const WHY: Readonly<Record<HtmlLock, string>> = {
  'multipart/signed': SIGNED,
  'multipart/encrypted': ENCRYPTED,
  'application/pkcs7-mime': 'it is signed or encrypted by S/MIME',
  'application/x-pkcs7-mime': 'it is signed or encrypted by S/MIME',
  'message/rfc822': ENCLOSED,
  'message/global': ENCLOSED,
  'message/partial': 'it is a piece of a message',
  'message/external-body': 'it is elsewhere',
  'no html': 'it has none',
  charset: 'its characters are none that links are found in',
  size: 'it has more than 1 MiB',
};

/**
 * Why opens and clicks of a message are not counted, and no link to unsubscribe is in it, although that was
 * asked for.
 */
export const untouchedText = (why: HtmlLock): string =>
  `Tracking or a link to unsubscribe was asked for, and the html was not changed: ${WHY[why]}.`;
