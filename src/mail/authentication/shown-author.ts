import { asciiHost } from '../../platform/text/host.ts';
import { endOfHeader } from '../raw/header-editor.ts';
import { parseMessage } from '../raw/repair/parsable.ts';
import { senderOf } from '../received/shown-mailboxes.ts';

/**
 * One mailbox and nothing else: programs take a domain before the last at sign, or before one of these
 * characters, for that of the author.
 */
const ONE_MAILBOX = /^[^\s@,;:<>()[\]\\]+@([^\s@,;:<>()[\]\\]+)$/;
/** Names that are compared as they are; some have underscores, which no name of a host has. */
const PLAIN = /^[a-z0-9._-]+$/;

/**
 * True when the domain is that of the author whom the reader of the message shows. Readers take a malformed
 * header apart in different ways: a proof of one author must not stand beside the address of another.
 */
export async function isShownAuthor(domain: string, message: Buffer): Promise<boolean> {
  const email = await parseMessage(message.subarray(0, endOfHeader(message)), {});
  const shown = ONE_MAILBOX.exec((email && senderOf(email)?.address) ?? '')?.[1];
  const name = shown === undefined ? null : comparable(shown);
  return name !== null && name === comparable(domain);
}

/** Null for what is no name of a domain. */
function comparable(domain: string): string | null {
  const lower = domain.toLowerCase();
  return PLAIN.test(lower) ? lower : asciiHost(lower);
}
