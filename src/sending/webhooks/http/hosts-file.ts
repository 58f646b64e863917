import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** The table of names that an administrator keeps on the machine itself. */
const HOSTS_FILE = '/etc/hosts';
/** A file of blocked names has some megabytes; a larger one is not read. */
const LONGEST = 16 * 1024 * 1024;

/**
 * The addresses that a hosts file gives a name, in lower case: an address, then its names, up to `#`
 * (hosts(5)).
 */
export function addressesIn(hosts: string, name: string): readonly string[] {
  if (!hosts.toLowerCase().includes(name)) return [];
  const addresses: string[] = [];
  for (const line of hosts.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    if (isIP(address) !== 0 && names.some((each) => each.toLowerCase() === name)) addresses.push(address);
  }
  return addresses;
}

/** The addresses that the hosts file of this machine gives a name; none where there is no such file. */
export async function addressesInHostsFile(
  name: string,
  path: string = HOSTS_FILE,
): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.length > LONGEST ? [] : addressesIn(text, name.toLowerCase());
}
