/** The message in a file: without the line that mbox begins with, and with the line ends of SMTP. */
export const inMailForm = (file: Buffer): Buffer =>
  Buffer.from(
    file
      .toString('latin1')
      .replace(/^From [^\r\n]*\r?\n/, '')
      .replace(/\r\n|\r|\n/g, '\r\n'),
    'latin1',
  );

const USUAL = /^(?:from|to|subject|content-type|mime-version|received|date|message-id)[ \t]*:/gim;

/** True for what begins with a header of at least two usual fields. Texts about mail do not. */
export function hasFields(raw: Buffer): boolean {
  const [header = ''] = raw.toString('latin1', 0, 8_192).split('\r\n\r\n');
  return /^[!-9;-~]+[ \t]*:/.test(header) && (header.match(USUAL)?.length ?? 0) >= 2;
}
