/** SES replaces the Message-ID of each message: by its id, at a domain that differs by region. */
const DOMAIN = 'email.amazonses.com';
/** us-east-1 writes `email`, any other region its own name. */
const OF_SES = /^<([0-9a-f]{8,24}-[0-9a-f-]{20,60})@(?:email|[a-z]{2}(?:-[a-z]+)+-\d)\.amazonses\.com>$/i;
/** The reply of its SMTP interface to the end of a message. */
const SMTP_REPLY = /\bOk ([0-9a-f]{8,24}-[0-9a-f-]{20,60})\s*$/i;

const named = (id: string): string => `<${id}@${DOMAIN}>`;

/**
 * The Message-ID of a copy that SES has taken, by what the transport has answered; null for any other copy.
 */
export function messageIdOfSes(data: object | null): string | null {
  const { provider, messageId, response } = (data ?? {}) as {
    readonly provider?: unknown;
    readonly messageId?: unknown;
    readonly response?: unknown;
  };
  if (provider === 'ses')
    return typeof messageId === 'string' && !messageId.includes('@') ? named(messageId) : null;
  const [, id] = (provider === 'smtp' && typeof response === 'string' && SMTP_REPLY.exec(response)) || [];
  return id === undefined ? null : named(id);
}

/** A Message-ID in the form in which it is kept: those of SES without their region. */
export const withoutRegion = (messageId: string): string => {
  const [, id] = OF_SES.exec(messageId) ?? [];
  return id === undefined ? messageId : named(id);
};
