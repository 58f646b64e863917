import type { Arrival, ForwardFacts, NamedMailbox } from '../../../mail/raw/raw-mail.ts';
import { addressKeyOf, headerAddressKeys } from '../../../mail/received/address-keys.ts';
import { fieldsOf } from '../../../mail/received/header.ts';
import type { Failure } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { Problems } from '../../../platform/text/problems.ts';
import { simulatedOutcome } from '../simulator/simulated-addresses.ts';
import { NOBODY, NOT_SIMULATED } from './recipients.ts';
import type { SendRequest } from './request.ts';

/** A received message that is to be forwarded. */
export interface ForwardRequest {
  readonly octets: Buffer;
  /** The domain that it came to, which signs and whose bounces come back. */
  readonly domain: string;
  /** The envelope sender; '' for the null one. */
  readonly envelopeFrom: string;
  readonly author: NamedMailbox | null;
  readonly subject: string | null;
  readonly messageId: string | null;
  readonly targets: readonly string[];
  readonly facts: ForwardFacts;
  /** The connection that it came by. */
  readonly came: Arrival;
  /** The recipient that it came to, who is named as its sender where it names no author. */
  readonly recipient: string;
}

const PATH = '/body/action/to';
/** Octets that are added on the way. */
const FRAME = 8_192;

/**
 * A message that is forwarded as a request. Its content stays what it is, so that it is not read: neither
 * counts its html nor offers it a way out.
 */
export function readForwardRequest(
  {
    octets,
    domain,
    envelopeFrom,
    author,
    subject,
    messageId,
    targets,
    facts,
    came,
    recipient,
  }: ForwardRequest,
  simulatorDomain: string,
): SendRequest | Failure {
  const problems = new Problems();
  const bcc = new Map<string, Address>();
  for (const [index, text] of targets.entries()) {
    const read = parseAddress(text);
    if (isProblem(read)) problems.report(`${PATH}/${index}`, read.problem);
    else if (simulatedOutcome(read, simulatorDomain) === null)
      problems.report(`${PATH}/${index}`, NOT_SIMULATED);
    else bcc.set(read.key, read);
  }
  const from = senderOf(author) ?? senderOf({ name: null, address: recipient }) ?? NOBODY;
  return (
    problems.failure() ?? {
      from,
      to: [...bcc.values()],
      cc: [],
      bcc: [],
      replyTo: [],
      subject: subject ?? '',
      text: null,
      html: null,
      markdown: null,
      template: null,
      language: null,
      headers: [],
      attachments: [],
      calendar: null,
      tags: [],
      messageId: null,
      scheduledAt: null,
      trackOpens: false,
      trackClicks: false,
      raw: {
        content: { octets, index: { headers: [], attachments: [], html: 'no html', came, forward: facts } },
        messageId,
        senders: [],
        forward: { sender: envelopeFrom, domain, keys: keysOf(octets, envelopeFrom, recipient) },
      },
      size: octets.length + FRAME,
    }
  );
}

/** The keys that an email holds of those whom its message names. */
const MOST_KEYS = 200;
/** In place of the keys of a message that names more: the first person who is forgotten takes it along. */
export const ANYONE = '*';

function keysOf(octets: Buffer, ...envelope: readonly string[]): readonly string[] {
  const inEnvelope = envelope.filter((address) => address !== '').map(addressKeyOf);
  const keys = new Set([...inEnvelope, ...headerAddressKeys(fieldsOf(octets))]);
  return keys.size > MOST_KEYS ? [ANYONE] : [...keys];
}

function senderOf(mailbox: NamedMailbox | null): Address | null {
  const read = mailbox && parseAddress(mailbox.address);
  return read && !isProblem(read) ? { ...read, name: mailbox.name } : null;
}
