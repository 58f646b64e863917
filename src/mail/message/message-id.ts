import type { Problem } from '../../platform/text/problems.ts';

/** The longest Message-ID, with its brackets, so that its field is one line (RFC 5322 2.1.1). */
export const LONGEST_MESSAGE_ID = 250;

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** RFC 5322 3.6.4 without its obsolete forms, and with a host name on the right. */
const MESSAGE_ID = new RegExp(`^(<)?(${ATOM}(?:\\.${ATOM})*)@(${LABEL}(?:\\.${LABEL})+)(>)?$`);
/** The service names its own messages so. */
const OWN = /^em_/i;

const NO_ID: Problem = {
  problem: `Must be a Message-ID such as <order-1842@acme.example>, of at most ${LONGEST_MESSAGE_ID} characters.`,
};
const RESERVED: Problem = {
  problem: 'Must not begin with em_, which the service names its own messages by.',
};

/** A Message-ID with its brackets and its host in lower case. */
export interface MessageId {
  readonly id: string;
  readonly host: string;
}

/** Reads a Message-ID, with angle brackets or without. */
export function readMessageId(text: string): MessageId | Problem {
  const [, open, left = '', host = '', close] = MESSAGE_ID.exec(text) ?? [];
  if (host === '' || open?.length !== close?.length || left.length + host.length + 3 > LONGEST_MESSAGE_ID)
    return NO_ID;
  if (OWN.test(left)) return RESERVED;
  const lower = host.toLowerCase();
  return { id: `<${left}@${lower}>`, host: lower };
}
