import { leaves } from '../../../mail/transport/traits.ts';
import type { OutboundMessage, Transport } from '../../../mail/transport/transport.ts';
import { SealedWithAnotherKey, type Sealer } from '../../../platform/crypto/sealer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { mintId } from '../../../platform/db/ids.ts';
import { findAnySendingDomain, signingKeys } from '../../../sending/domains/queries.ts';
import { type Diagnosis, fine, skipped, wrong } from '../diagnosis.ts';
import { ROTATE_KEYS } from '../secret-key.ts';

const CHECK = 'Test message';
const PATIENCE_MS = 60_000;

/** A test message is sent with these means. */
export interface TestMessage {
  readonly to: string;
  readonly transport: Transport;
  /** True when domains that choose no transport use this one. */
  readonly isDefault: boolean;
  readonly database: Database | null;
  /** Null when there is no key; then nothing can be signed. */
  readonly sealer: Pick<Sealer, 'open'> | null;
  readonly now: number;
}

/** Sends one message from a verified domain, signed as any other, and reports its outcome. */
export async function sendTestMessage(message: TestMessage): Promise<Diagnosis> {
  const { to, transport, isDefault, database, sealer, now } = message;
  if (!leaves(transport.name)) return skipped(CHECK, 'With TRANSPORT=capture nothing leaves.');
  if (!database || sealer === null)
    return skipped(
      CHECK,
      'The database cannot be read here, so nothing can be signed; send one over the API.',
    );
  const domain = await findAnySendingDomain(database, transport.name, isDefault);
  if (!domain?.keys && !isDefault) return skipped(CHECK, `No verified domain sends by ${transport.name}.`);
  if (!domain?.keys)
    return wrong(
      CHECK,
      'No domain is verified, so there is no sender for it.',
      'Add one with POST /v1/domains and set its DNS records.',
    );
  let dkim: OutboundMessage['dkim'];
  try {
    dkim = signingKeys(sealer, domain.keys);
  } catch (error) {
    if (!(error instanceof SealedWithAnotherKey)) throw error;
    return wrong(CHECK, `The DKIM keys of ${domain.name} were sealed with another SECRET_KEY.`, ROTATE_KEYS);
  }
  const id = mintId('em', now);
  const from = `posthorn@${domain.name}`;
  const outbound: OutboundMessage = {
    emailId: id,
    attempt: 1,
    from: { name: 'Posthorn', address: from },
    to: [{ name: null, address: to }],
    cc: [],
    bcc: [],
    replyTo: [],
    recipients: [to],
    subject: 'A test message of Posthorn',
    text: `This message shows that mail leaves.\n\nSent from ${from} over ${transport.name}.\n`,
    html: null,
    headers: [],
    attachments: [],
    messageId: `<${id}@${domain.name}>`,
    date: now,
    returnPath: `posthorn@${domain.returnPath ?? domain.name}`,
    dkim,
    unsubscribe: null,
  };
  const limits = { signal: AbortSignal.timeout(PATIENCE_MS), deadlineMs: PATIENCE_MS };
  const [outcome] = await transport.send(outbound, limits);
  if (outcome?.outcome === 'accepted') return fine(CHECK, `${from} to ${to}: ${outcome.response}`);
  return wrong(
    CHECK,
    `${from} to ${to} was ${outcome?.outcome ?? 'not tried'}: ${outcome?.response ?? 'no reason is known'}`,
    outcome?.outcome === 'refused'
      ? 'This is the reply of the receiver, which names its objection.'
      : 'Try again in a few minutes; the findings above may name the cause.',
  );
}
