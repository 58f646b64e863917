import { customAlphabet } from 'nanoid';

const randomPart = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 32);

/** A new API key. Shown once; only its hash is kept. */
export const mintApiKey = (livemode: boolean): string => `svc_${livemode ? 'live' : 'test'}_${randomPart()}`;

const FORM = /^svc_(?:live|test)_[A-Za-z0-9]{32}$/;

/** Whether a text has the form of a key; what has not is refused before anything is looked up. */
export const isApiKey = (text: string): boolean => FORM.test(text);

/** SHA-256, lower-case hex. A key has too many random bits to be guessed, so a slow hash would only slow us (0.45 µs). */
export const hashOfKey = (key: string): string => new Bun.CryptoHasher('sha256').update(key).digest('hex');

/** First and last four characters with an ellipsis between: enough to tell keys apart, too little to use one. */
export const prefixOf = (key: string): string => `${key.slice(0, 4)}…${key.slice(-4)}`;
