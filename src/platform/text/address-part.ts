import { domainToASCII } from 'node:url';

const BEYOND_ASCII = /[^\p{ASCII}]/u;

/**
 * A part of an address, or of its host, with the labels of the host as the key of an address has them, in ASCII; null where that
 * changes nothing.
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
