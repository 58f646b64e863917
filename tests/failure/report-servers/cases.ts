/**
 * The reply of a recipient's server to a message, to its sender or to its recipient. `$to` is the recipient.
 */
interface Case {
  readonly to: string;
  /** The reply to the sender: before it, the server has no recipient to judge. */
  readonly mail?: string;
  readonly rcpt?: string;
  readonly dot?: string;
  /** The sender asks for a report of success. */
  readonly wantsSuccess?: true;
}

/**
 * The messages to each server. The local part of the recipient at receiver.example is the name of the case.
 */
export const CASES: Readonly<Record<string, Case>> = {
  unknown: {
    to: 'unknown@receiver.example',
    rcpt: '550 5.1.1 <$to>: Recipient address rejected: User unknown in virtual mailbox table',
  },
  plain: { to: 'plain@receiver.example', rcpt: '550 No such user here' },
  disabled: { to: 'disabled@receiver.example', rcpt: '550 5.2.1 This account is disabled' },
  vague: { to: 'vague@receiver.example', rcpt: '550 Rejected' },
  full: { to: 'full@receiver.example', rcpt: '552 5.2.2 <$to>: Mailbox full: user is over quota' },
  listed: {
    to: 'listed@receiver.example',
    rcpt: '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.example',
  },
  // GMX and WEB.DE say so of a sender whose domain has neither a mail server nor an address.
  sender: { to: 'sender@receiver.example', mail: '550 Requested action not taken: mailbox unavailable' },
  content: { to: 'content@receiver.example', dot: '554 5.6.0 Message content rejected' },
  big: { to: 'big@receiver.example', dot: '552 5.3.4 Message size exceeds fixed maximum message size' },
  later: { to: 'later@receiver.example', rcpt: '452 4.2.2 <$to>: Mailbox full: user is over quota' },
  down: { to: 'bob@dead.example' },
  nodomain: { to: 'bob@nonexistent.example' },
  nullmx: { to: 'bob@nullmx.example' },
  alias: { to: 'team@example.com' },
  pipe: { to: 'pipe@example.com' },
  taken: { to: 'ok@receiver.example', wantsSuccess: true },
};
