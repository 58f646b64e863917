import MimeNode from 'nodemailer/lib/mime-node';
import { dateText } from '../compose/fields.ts';

/** The parts of a message that a test has come in. */
export interface TestMessageParts {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly messageId: string;
  /** Epoch milliseconds. */
  readonly date: number;
}

/** Writes a plain message, as a mail program would. */
export function composeTestMessage({
  from,
  to,
  subject,
  text,
  messageId,
  date,
}: TestMessageParts): Promise<Buffer> {
  const node = new MimeNode('text/plain; charset=utf-8');
  node.setHeader({ From: from, To: to, Subject: subject, Date: dateText(date), 'Message-ID': messageId });
  node.setContent(text.replace(/\r\n?|\n/g, '\r\n'));
  return node.build();
}
