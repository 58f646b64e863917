/**
 * The parts of DMARC records that receivers ignore, while the rest counts (RFC 9989 4.7; RFC 7489 6.3 for
 * older receivers).
 */
import { MAILTO } from './dmarc.ts';
import { readTags } from './tag-list.ts';

const ALIGNMENT = /^[rs]$/i;
const VALUES: ReadonlyMap<string, RegExp> = new Map([
  ['adkim', ALIGNMENT],
  ['aspf', ALIGNMENT],
  ['fo', /^[01ds](?::[01ds])*$/i],
  ['pct', /^(?:100|0?\d{1,2})$/],
  ['psd', /^[ynu]$/i],
  ['ri', /^\d+$/],
  ['t', /^[yn]$/i],
]);

/**
 * Sentences about the parts of a policy that receivers ignore, and a policy that they assume; null where
 * there are none.
 */
export function ignoredTags(name: string, policy: string): string | null {
  const tags = readTags(policy);
  const parts = policy.split(';').map((part) => part.trim());
  const values = [...tags].filter(([tag, value]) => VALUES.get(tag)?.test(value) === false);
  const addresses = ['rua', 'ruf'].flatMap((tag) => noAddresses(tag, tags.get(tag)));
  const ignored = [
    ...parts.filter((part) => part !== '' && !part.includes('=')),
    ...values.map(([tag, value]) => `${tag}=${value}`),
    ...addresses,
  ];
  const sentences = [
    ...(ignored.length > 0
      ? [`Receivers ignore ${ignored.join(', ')} in the DMARC policy at ${name}; correct it.`]
      : []),
    ...(addresses.length > 0 ? ['An address for reports begins with mailto:.'] : []),
    ...(tags.has('p') ? [] : [`The DMARC policy at ${name} has no p=, which receivers take for p=none.`]),
  ];
  return sentences.length > 0 ? sentences.join(' ') : null;
}

const noAddresses = (tag: string, value: string | undefined): readonly string[] =>
  (value?.split(',') ?? [])
    .filter((uri) => !MAILTO.test(uri.split('?')[0] ?? ''))
    .map((uri) => `${tag}=${uri}`);
