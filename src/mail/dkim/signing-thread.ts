// The entry point of a thread that signs, and of a separate bundle in the executable (scripts/build.ts).
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { LruMap } from '../../platform/async/lru-map.ts';
import { serve } from '../../platform/threads/serve.ts';
import { QuickestSigner } from './quickest-signer.ts';

/** Data to sign with an RSA key. */
export interface SigningJob {
  readonly pem: string;
  readonly data: Uint8Array;
}

/** The signatures in the order of their jobs. */
export interface SignedJobs {
  readonly signatures: readonly Uint8Array[];
  /** The library of the machine that makes them. */
  readonly library: string;
}

/** Keys that are kept: reading one takes 0.1 ms. */
const KEPT = 1_000;

const signer = new QuickestSigner();
const keys = new LruMap<string, KeyObject>({ entries: KEPT });

function keyOf(pem: string): KeyObject {
  const known = keys.get(pem);
  if (known) return known;
  const key = createPrivateKey(pem);
  keys.set(pem, key);
  return key;
}

const signatureOf = ({ pem, data }: SigningJob): Buffer => {
  const key = { domain: '', selector: '', algorithm: 'rsa-sha256', privateKey: keyOf(pem) } as const;
  return signer.sign(key, Buffer.from(data.buffer, data.byteOffset, data.byteLength)) as Buffer;
};

serve((jobs: readonly SigningJob[]): SignedJobs => {
  const signatures = jobs.map(signatureOf);
  const { library } = signer;
  // The pool ends a thread that fails.
  if (library === null) throw new Error('This thread signs no quicker than the runtime.');
  return { signatures, library };
});
