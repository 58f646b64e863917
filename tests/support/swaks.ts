/**
 * Why swaks cannot show what a test wants of it; null where it can. Debian installs it without the Perl
 * modules that it recommends: it is there then, and speaks no TLS (Net::SSLeay).
 */
export function swaksMissing({ tls = false } = {}): string | null {
  if (Bun.which('swaks') === null) return 'the Debian package swaks is not installed';
  if (!tls) return null;
  const { stdout } = Bun.spawnSync(['swaks', '--support']);
  return /^=== TLS supported$/m.test(stdout.toString()) ? null : 'swaks lacks libnet-ssleay-perl, and so TLS';
}
