import { createPrivateKey } from 'node:crypto';
import { compose } from '../../../mail/compose/compose.ts';
import { composeAlternatives } from '../../../mail/compose/plain.ts';
import { textFromHtml } from '../../../mail/content/text-part.ts';
import { QuickestSigner } from '../../../mail/dkim/quickest-signer.ts';
import { signaturesOf, signaturesOfHead } from '../../../mail/dkim/sign.ts';
import type { SigningKey } from '../../../mail/dkim/signing-key.ts';
import type { OutboundMessage } from '../../../mail/transport/transport.ts';
import { LruMap } from '../../../platform/async/lru-map.ts';
import { signingWith } from '../../../platform/crypto/signer.ts';
import { copyTexts } from '../../tracking/commands.ts';
import type { Body, Personalisation } from '../send/message.ts';

/** A signing key as it is handed to a thread. */
export interface PortableKey extends Omit<SigningKey, 'privateKey' | 'signWith'> {
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

/**
 * The octets of all copies behind each other, and of each how long they are; null of one that could not be
 * written.
 */
export interface WrittenBatch {
  readonly octets: Uint8Array;
  readonly lengths: readonly ({ readonly signatures: number; readonly composed: number } | null)[];
  /** The library of the machine that makes the RSA signatures; null where Bun does. */
  readonly library: string | null;
}

/** Domains whose keys are kept: reading one takes 0.1 ms. */
const KEPT = 1_000;
/**
 * Texts that were written last. Recipients of one language without personal values in the text have the same.
 */
const MOST_PARTS = 24;

type Texts = ReturnType<typeof copyTexts>;

interface KeyedTexts {
  readonly signerKey: Buffer;
  readonly publicUrl: string;
  readonly texts: Texts;
}

interface WrittenCopy {
  readonly signatures: Buffer;
  /** The octets of the message, in pieces. */
  readonly composed: readonly Buffer[];
}

/** Writes copies in the thread that calls it. */
export class CopyWriter {
  readonly #opened = new LruMap<string, readonly SigningKey[]>({ entries: KEPT });
  readonly #parts: { readonly parts: WritingJob['parts']; readonly language: string | undefined }[] = [];
  #texts: KeyedTexts | undefined;
  #compiled = 0;

  constructor(private readonly signer: Pick<QuickestSigner, 'sign' | 'library'> = new QuickestSigner()) {}

  /** Copies that were put together from what they have in common with others. */
  get compiled(): number {
    return this.#compiled;
  }

  readonly write = async (batch: WritingBatch): Promise<WrittenBatch> => {
    const texts = this.#textsOf(batch);
    // Copies of one domain share one list, also on this side.
    const opened = new Map<readonly PortableKey[], readonly SigningKey[]>();
    const pieces: Buffer[] = [];
    const lengths: WrittenBatch['lengths'][number][] = [];
    for (const job of batch.jobs)
      try {
        const keys = opened.get(job.keys) ?? this.#open(job.keys);
        opened.set(job.keys, keys);
        const { signatures, composed } = await this.#written(job, keys, texts);
        pieces.push(signatures, ...composed);
        const length = composed.reduce((sum, piece) => sum + piece.length, 0);
        lengths.push({ signatures: signatures.length, composed: length });
      } catch {
        // The caller writes it again, and reports the problem.
        lengths.push(null);
      }
    return { octets: new Uint8Array(Buffer.concat(pieces)), lengths, library: this.signer.library };
  };

  async #written(
    { message, parts, personal }: WritingJob,
    dkim: readonly SigningKey[],
    texts: Texts,
  ): Promise<WrittenCopy> {
    const { sign } = this.signer;
    const shared = this.#shared(parts, personal.language);
    const copy = texts.compiled(shared, personal);
    const made =
      copy && composeAlternatives({ ...message, dkim, unsubscribe: copy.unsubscribe }, copy.text, copy.html);
    if (made) {
      this.#compiled++;
      const head = Buffer.from(made.head);
      const body = Buffer.from(made.body, 'latin1');
      const relaxed = made.relaxed === made.body ? body : Buffer.from(made.relaxed, 'latin1');
      const signatures = await signaturesOfHead(head, relaxed, dkim, message.date, sign);
      return { signatures, composed: [head, body] };
    }
    const composed = await compose({ ...message, dkim, ...texts.personalise(shared, personal) });
    return { signatures: await signaturesOf({ composed }, dkim, message.date, sign), composed: [composed] };
  }

  /**
   * The same object for the same text in the same language, by which the personaliser knows what it has read.
   */
  #shared(parts: WritingJob['parts'], language: string | undefined): WritingJob['parts'] {
    const { text, html } = parts;
    const known = this.#parts.find(
      (each) => each.parts.text === text && each.parts.html === html && each.language === language,
    );
    if (known) return known.parts;
    if (this.#parts.length >= MOST_PARTS) this.#parts.shift();
    this.#parts.push({ parts, language });
    return parts;
  }

  /** Those of the batch before, unless the key of links was rotated meanwhile. */
  #textsOf({ signerKey, publicUrl }: WritingBatch): Texts {
    const last = this.#texts;
    if (last?.signerKey.equals(signerKey) && last.publicUrl === publicUrl) return last.texts;
    const texts = copyTexts({ signer: signingWith(signerKey), publicUrl, textFromHtml });
    this.#texts = { signerKey: Buffer.from(signerKey), publicUrl, texts };
    return texts;
  }

  #open(keys: readonly PortableKey[]): readonly SigningKey[] {
    const name = keys.map(({ domain, selector, pem }) => `${domain} ${selector} ${pem}`).join();
    const known = this.#opened.get(name);
    if (known) return known;
    const fresh = keys.map(({ pem, ...key }) => ({ ...key, privateKey: createPrivateKey(pem) }));
    this.#opened.set(name, fresh);
    return fresh;
  }
}
