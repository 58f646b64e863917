// The entry point of a separate thread, and of a separate bundle in the executable (scripts/build.ts). What takes the most of an
// email of a campaign happens here: its links, its parts and headers, its signatures.

import { createPrivateKey } from 'node:crypto';
import { compose } from '../../../mail/compose/compose.ts';
import { textFromHtml } from '../../../mail/content/text-part.ts';
import { QuickestSigner } from '../../../mail/dkim/quickest-signer.ts';
import { signaturesOf } from '../../../mail/dkim/sign.ts';
import type { SigningKey } from '../../../mail/dkim/signing-key.ts';
import type { OutboundMessage } from '../../../mail/transport/transport.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { signingWith } from '../../../platform/crypto/signer.ts';
import { giveWay } from '../../../platform/threads/give-way.ts';
import { serve } from '../../../platform/threads/serve.ts';
import { personaliser } from '../../tracking/commands.ts';
import type { Body, Personalisation } from '../send/message.ts';

/** A signing key as it is handed to a thread. */
export interface PortableKey extends Omit<SigningKey, 'privateKey'> {
  readonly pem: string;
}

/** One copy to write. */
export interface WritingJob {
  readonly message: Omit<OutboundMessage, keyof Body | 'dkim'>;
  readonly parts: Pick<Body, 'text' | 'html'>;
  readonly personal: Personalisation;
  /** Copies of one domain share one list, which crosses over once. */
  readonly keys: readonly PortableKey[];
}

/** Copies that are written together. */
export interface WritingBatch {
  readonly signerKey: Uint8Array;
  readonly publicUrl: string;
  readonly jobs: readonly WritingJob[];
}

/** The octets of all copies behind each other, and of each how long they are; null of one that could not be written. */
export interface WrittenBatch {
  readonly octets: Uint8Array;
  readonly lengths: readonly ({ readonly signatures: number; readonly composed: number } | null)[];
  /** The library of the machine that makes the RSA signatures; null where Bun does. */
  readonly library: string | null;
}

/** Domains whose keys are kept: reading one takes 0.1 ms. */
const KEPT = 1_000;
const opened = new LruMap<string, readonly SigningKey[]>({ entries: KEPT });

function openKeys(keys: readonly PortableKey[]): readonly SigningKey[] {
  const name = keys.map(({ domain, selector, pem }) => `${domain} ${selector} ${pem}`).join();
  const known = opened.get(name);
  if (known) return known;
  const fresh = keys.map(({ pem, ...key }) => ({ ...key, privateKey: createPrivateKey(pem) }));
  opened.set(name, fresh);
  return fresh;
}

const signer = new QuickestSigner();

/**
 * Texts that were written last, and their most characters. Recipients without personal values in the text have the same, and so have those
 * with the same first name: their html is read once, which is what takes the most of a copy beside its signature.
 */
const texts = new LruMap<string, WritingJob['parts']>({
  entries: 256,
  weight: 1_048_576,
  weightOf: ({ text, html }) => (text?.length ?? 0) + (html?.length ?? 0),
});

/** The same object for the same text, by which the personaliser knows what it has read. */
function sharedParts(parts: WritingJob['parts']): WritingJob['parts'] {
  const name = `${parts.text?.length ?? ''} ${parts.text ?? ''}${parts.html ?? ''}`;
  const known = texts.get(name);
  // An absent part and an empty one have the same name.
  if (known && known.html === parts.html && known.text === parts.text) return known;
  texts.set(name, parts);
  return parts;
}

type Writer = ReturnType<typeof personaliser>;
let last:
  | { readonly signerKey: Buffer; readonly publicUrl: string; readonly personalise: Writer }
  | undefined;

/** The personaliser of the batch before, unless the key of links was rotated meanwhile. */
function personaliserOf({ signerKey, publicUrl }: WritingBatch): Writer {
  if (last?.signerKey.equals(signerKey) && last.publicUrl === publicUrl) return last.personalise;
  const personalise = personaliser({ signer: signingWith(signerKey), publicUrl, textFromHtml });
  last = { signerKey: Buffer.from(signerKey), publicUrl, personalise };
  return personalise;
}

giveWay();

serve(async (batch: WritingBatch): Promise<WrittenBatch> => {
  const personalise = personaliserOf(batch);
  const pieces: Buffer[] = [];
  const lengths: WrittenBatch['lengths'][number][] = [];
  for (const { message, parts, personal, keys } of batch.jobs)
    try {
      const dkim = openKeys(keys);
      const composed = await compose({ ...message, dkim, ...personalise(sharedParts(parts), personal) });
      const signatures = await signaturesOf(composed, dkim, message.date, signer.sign);
      pieces.push(signatures, composed);
      lengths.push({ signatures: signatures.length, composed: composed.length });
    } catch {
      // The caller writes it again, and reports the problem.
      lengths.push(null);
    }
  return { octets: new Uint8Array(Buffer.concat(pieces)), lengths, library: signer.library };
});
