#!/bin/sh
# mailauth 7.1.0 (npm) on Node; python3-spf 2.0.14-3 and libmail-spf-perl 2.9.0-5 (Debian 12, unpacked and not installed).
#
# Guess: a TXT record `" v=spf1 ip4:192.0.2.1 -all"`, pasted with a space before it, is read by all or by none. `-all:x`, which is no
#        mechanism, is a permanent error for all.
# Seen:  mailauth trims the text and says pass, so that a sender who tests with it is content; pyspf and Mail::SPF find no record (RFC 7208
#        4.5 compares the octets). A wrong term behind the one that matches is a pass for mailauth, and a permanent error for the others (4.6).
set -eu
cd "$(mktemp -d)"
python3 -c 'import re' && perl -MIO::Socket -e 1 || apt-get install -yqq python3 perl >/dev/null
apt-get download -qq python3-spf=2.0.14-3 python3-authres python3-dns libmail-spf-perl=2.9.0-5 libnet-dns-perl libnetaddr-ip-perl \
  liberror-perl liburi-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailauth@7.1.0
cat > see.cjs <<'JS'
const { spf } = require('mailauth/lib/spf');
const [, , text] = process.argv;
const resolver = async (_, type) => {
  if (type === 'TXT') return [[text]];
  throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
};
spf({ sender: 'ada@shop.example', ip: '192.0.2.1', helo: 'shop.example', resolver }).then(({ status }) => console.log(status.result));
JS
cat > see.py <<'PY'
import sys
sys.path.insert(0, 'root/usr/lib/python3/dist-packages')
import spf
spf.DNSLookup = lambda name, kind, *_, **__: [((name, kind), (sys.argv[1].encode(),))] if kind == 'TXT' else []
print(spf.check2('192.0.2.1', 'ada@shop.example', 'shop.example')[0])
PY
cat > see.pl <<'PL'
use Mail::SPF;
use Net::DNS;
my $resolver = bless {}, 'Resolver';
my $request = Mail::SPF::Request->new(scope => 'mfrom', identity => 'ada@shop.example', ip_address => '192.0.2.1');
print Mail::SPF::Server->new(dns_resolver => $resolver)->process($request)->code, "\n";
package Resolver;
sub send {
  my ($self, $name, $type) = @_;
  my $packet = Net::DNS::Packet->new($name, $type);
  $packet->header->rcode('NOERROR');
  $packet->push(answer => Net::DNS::RR->new(name => $name, type => 'TXT', txtdata => [$ARGV[0]])) if $type eq 'TXT';
  return $packet;
}
sub errorstring { '' }
PL
perl5=$PWD/root/usr/share/perl5:$(dirname "$(dirname "$(find "$PWD/root" -path '*/NetAddr/IP.pm')")")
for text in 'v=spf1 ip4:192.0.2.1 -all' ' v=spf1 ip4:192.0.2.1 -all' 'v=spf1 ip4:192.0.2.1 -all:x'; do
  echo "'$text': mailauth $(node --no-warnings see.cjs "$text"), pyspf $(python3 see.py "$text"), Mail::SPF $(PERL5LIB=$perl5 perl see.pl "$text")"
done | tee seen
cat > expected <<'TEXT'
'v=spf1 ip4:192.0.2.1 -all': mailauth pass, pyspf pass, Mail::SPF pass
' v=spf1 ip4:192.0.2.1 -all': mailauth pass, pyspf none, Mail::SPF none
'v=spf1 ip4:192.0.2.1 -all:x': mailauth pass, pyspf permerror, Mail::SPF permerror
TEXT
diff expected seen
echo 'As expected.'
