/** A message that was handed in by SMTP. */
export interface HandedMail {
  readonly number: number;
  readonly raw: string;
  /** True when the end of the message was answered 250. */
  isAcknowledged: boolean;
  /** The answer that refused it for good; null without one. */
  refusal: string | null;
}

const DOMAIN = 'sender.example';
/** The recipients of each message. */
const NAMES = ['support', 'sales'] as const;

const messageIdOf = (number: number): string => `<torture-${number}@${DOMAIN}>`;

/** The messages that were handed in. */
export class MailRecord {
  readonly mails: HandedMail[] = [];
  /** Messages that were handed in once more, after a 250 or without an answer. */
  again = 0;

  add(lines: number): HandedMail {
    const number = this.mails.length;
    const header = [
      `From: Torture <torture@${DOMAIN}>`,
      `Subject: Received ${number}`,
      `Message-ID: ${messageIdOf(number)}`,
    ];
    const body = Array.from({ length: lines }, (_, line) => `Line ${line} of message ${number}`);
    const raw = `${[...header, '', ...body].join('\r\n')}\r\n`;
    const mail: HandedMail = { number, raw, isAcknowledged: false, refusal: null };
    this.mails.push(mail);
    return mail;
  }
}

/** The envelope recipients of a message at that domain. */
export const recipientsAt = (domain: string): readonly string[] => NAMES.map((name) => `${name}@${domain}`);

/** The number of a message by its Message-ID; null for any other. */
export function mailNumberIn(messageId: string | null): number | null {
  const digits = /^<torture-(\d+)@/.exec(messageId ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}
