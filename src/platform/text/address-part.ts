import { domainToASCII, domainToUnicode } from 'node:url';
import { isProblem, parseAddress } from './address.ts';

const BEYOND_ASCII = /[^\p{ASCII}]/u;

/**
 * A part of an address, or of its host, with the labels of the host as the key of an address has them, in
 * ASCII; null where that changes nothing.
 */
export function storedPart(part: string): string | null {
  const at = part.lastIndexOf('@');
  const host = part.slice(at + 1);
  if (!BEYOND_ASCII.test(host)) return null;
  const labels = host.split('.').map((label) => (BEYOND_ASCII.test(label) ? domainToASCII(label) : label));
  return labels.includes('') && !host.split('.').includes('')
    ? null
    : part.slice(0, at + 1) + labels.join('.');
}

/**
 * The forms in lower case in which an address may be kept: as it is compared, as it is written, and with the
 * letters of its host. In a database with the locale C, `lower` changes letters of ASCII alone.
 */
export function formsOf(address: string): readonly string[] {
  const read = parseAddress(address);
  const written = isProblem(read) ? address : read.address;
  const forms = [written.toLowerCase(), written.replace(/[A-Z]/g, (letter) => letter.toLowerCase())];
  if (isProblem(read)) return [...new Set(forms)];
  const lettered = `${read.key.slice(0, read.key.lastIndexOf('@'))}@${domainToUnicode(read.domain)}`;
  return [...new Set([read.key, ...forms, lettered])];
}
