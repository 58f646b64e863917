import { bounceOf, type Fact, type Feedback, type Reference } from './feedback.ts';
import { type Fields, readFields, typedValue } from './fields.ts';

/**
 * Reads the feedback about each recipient from the message/delivery-status part of a notification (RFC 3464).
 */
export const readDeliveryReport = (text: string, reference: Reference): Feedback[] => {
  const [first, ...rest] = readFields(text);
  // The first block is about the message. Some servers leave it out, and begin with a recipient.
  const recipients = first?.has('action') ? [first, ...rest] : rest;
  const reporter = first?.has('action') ? null : typedValue(first, 'reporting-mta');
  return recipients.flatMap((fields) => {
    const feedback = feedbackOf(fields, reporter);
    return feedback === null ? [] : [{ ...feedback, reference, recipient: recipientOf(fields) }];
  });
};

const feedbackOf = (fields: Fields, reporter: string | null): Fact | null => {
  const action = fields.get('action')?.toLowerCase().split(/[\s(]/)[0];
  const status = /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(fields.get('status') ?? '')?.[1] ?? null;
  // "smtp; 550 5.1.1 …", or "X-Postfix; host mx.example said: 550 5.1.1 …": the reply begins at its code.
  const words = typedValue(fields, 'diagnostic-code') ?? '';
  const diagnostic = /\b[245]\d\d[ -].*/.exec(words)?.[0] ?? words;
  const remoteMta = typedValue(fields, 'remote-mta') ?? reporter;
  if (action === 'failed') return bounceOf({ status, diagnostic, remoteMta });
  if (action === 'delayed')
    return { kind: 'delayed', message: diagnostic || (status ?? 'Delayed'), remoteMta };
  // `relayed` and `expanded` say that reports end here, not that the message was delivered (RFC 3464 2.3.3).
  if (action === 'delivered')
    return { kind: 'delivered', response: diagnostic || (status ?? 'Delivered'), remoteMta };
  return null;
};

// The original recipient is the address that we sent to; the final one may be the target of a forward.
const recipientOf = (fields: Fields): string | null => {
  const original = typedValue(fields, 'original-recipient');
  return original === null ? typedValue(fields, 'final-recipient') : decodeXtext(original);
};

// RFC 3461 4: ORCPT comes in xtext, where `+2B` is a plus sign.
const decodeXtext = (text: string): string =>
  text.replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
