import { asciiHost, isPublicSuffix } from '../../../platform/text/host.ts';

/** Top-level names that never exist in the public DNS (RFC 2606, RFC 6761). */
const RESERVED = /\.(?:test|example|localhost|invalid)$/;

/** The longest name in text form (RFC 1035 2.3.4). */
const LONGEST_NAME = 253;

/** Normalises a domain to lower-case ASCII, or returns a sentence with its problem. */
export function readDomainName(text: string): string | { readonly problem: string } {
  if (/[/:@]/.test(text))
    return { problem: 'Use the name alone, such as mail.example.com: no scheme, port, path or address.' };
  // DNS hosts show names with a dot at their end.
  const name = asciiHost(text.trim().replace(/\.$/, ''));
  if (name === null) return { problem: 'Must be the name of a domain, such as mail.example.com.' };
  if (isPublicSuffix(name))
    return {
      problem: 'Use a registered domain, or one below it; this is a public suffix, which many domains share.',
    };
  return name;
}

/** True for a name that cannot be proven, because it never exists in the public DNS. */
export const isReserved = (name: string): boolean => RESERVED.test(name);

/** True when a name fits into DNS. */
export const fits = (name: string): boolean => name.length <= LONGEST_NAME;

/** The name and its parent domains, nearest first: a verified domain also covers the names below it. */
export function withParents(name: string): readonly string[] {
  const labels = name.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}
