import { parse } from 'tldts';
import { asciiHost } from '../../mail/ascii-host.ts';

/** Names that never exist in the public DNS (RFC 2606, RFC 6761). */
const RESERVED = /\.(?:test|example|localhost|invalid)$/;

/** RFC 1035 2.3.4, as text. */
const LONGEST_NAME = 253;

/** The domain as it is stored, lower-case ASCII; or a sentence that says what it must be. */
export function readDomainName(text: string): string | { readonly problem: string } {
  if (/[/:@]/.test(text))
    return { problem: 'Give the name alone, such as mail.example.com: no scheme, port, path or address.' };
  const name = asciiHost(text);
  if (name === null) return { problem: 'Give the name of a domain, such as mail.example.com.' };
  if (registrableOf(name) === null)
    return {
      problem: 'Give a domain that somebody can register, or one below it; this is a suffix that many share.',
    };
  return name;
}

/** The registrable domain above (or at) a name: whose DMARC policy holds for it. null for a public suffix. */
export const registrableOf = (name: string): string | null => parse(name).domain;

/** Whether nobody could ever prove such a name. */
export const isReserved = (name: string): boolean => RESERVED.test(name);

/** Whether names of so many labels more still fit into DNS. */
export const fits = (name: string): boolean => name.length <= LONGEST_NAME;

/** The name and all that it lies below, nearest first: a domain speaks for those under it. */
export function lineOf(name: string): readonly string[] {
  const labels = name.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}
