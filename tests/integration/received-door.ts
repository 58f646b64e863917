import type { Email, LiveService } from '../support/live-service.ts';
import { SmtpClient } from './transport/smtp-client.ts';

/**
 * Hands a message to a server; the first lines of the replies to MAIL, to each RCPT, and to the end of the
 * message.
 */
export async function handIn(
  port: number,
  from: string,
  to: readonly string[],
  raw: string | Uint8Array,
): Promise<readonly string[]> {
  const client = await SmtpClient.open(port);
  try {
    await client.say('EHLO client.example');
    return await handOver(client, from, to, raw);
  } finally {
    client.end();
  }
}

/** The same on a connection that is open. */
export async function handOver(
  client: SmtpClient,
  from: string,
  to: readonly string[],
  raw: string | Uint8Array,
): Promise<readonly string[]> {
  const replies = [(await client.say(`MAIL FROM:<${from}>`))[0] ?? ''];
  for (const one of to) replies.push((await client.say(`RCPT TO:<${one}>`))[0] ?? '');
  const [go = ''] = await client.say('DATA');
  if (!go.startsWith('354')) return [...replies, go];
  const text = typeof raw === 'string' ? raw : Buffer.from(raw).toString('latin1');
  const end = text.endsWith('\r\n') ? '.\r\n' : '\r\n.\r\n';
  const answer = client.read();
  client.sendOctets(Buffer.from(text.replace(/^\./gm, '..') + end, 'latin1'));
  return [...replies, (await answer)[0] ?? ''];
}

/** A plain message. */
export const aMail = (more: Readonly<Record<string, string>> = {}, text = 'Where is my order?'): string => {
  const fields = {
    From: 'Ada <ada@customer.example>',
    To: 'support@sender.example',
    Subject: 'A question',
    Date: 'Fri, 20 Nov 2026 22:43:17 +0000',
    'Message-ID': `<${crypto.randomUUID()}@customer.example>`,
    ...more,
  };
  const header = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${header.join('')}\r\n${text}\r\n`;
};

/** So many addresses as a field names them. */
export const addresses = (count: number): string =>
  Array.from({ length: count }, (_, n) => `${n}@b.example`).join(',\r\n ');

type Match = { readonly type: string; readonly localPart?: string };

/** Routes of the live domain of a service, and the mail that came by them. */
export function receiving(service: LiveService) {
  async function routed(match: Match, more: object = {}, client = service.live, domainId = service.domainId) {
    const made = await client.post('/v1/inbound-routes', {
      domainId,
      match,
      action: { type: 'keep' },
      ...more,
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body.data;
  }
  return {
    routed,
    exactly: (localPart: string, more: object = {}) => routed({ type: 'exact', localPart }, more),
    receivedBy: async (routeId: string, client = service.live): Promise<readonly Email[]> =>
      (await client.get(`/v1/received?routeId=${routeId}`)).body.data,
    detail: async (id: string): Promise<Email> => (await service.live.get(`/v1/received/${id}`)).body.data,
  };
}
