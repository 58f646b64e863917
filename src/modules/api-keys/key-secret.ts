import { customAlphabet } from 'nanoid';

const random = customAlphabet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 32);

/** A new API key: 190 random bits behind a prefix that names its environment. */
export const mintKey = (livemode: boolean): string => `svc_${livemode ? 'live' : 'test'}_${random()}`;

/** What is stored of a key. It is random enough that a plain digest (0.45 µs) cannot be turned round. */
export const hashOfKey = (key: string): string => new Bun.CryptoHasher('sha256').update(key).digest('hex');

/** By what its owner recognises a key: its first and last four characters. */
export const prefixOfKey = (key: string): string => `${key.slice(0, 4)}…${key.slice(-4)}`;
