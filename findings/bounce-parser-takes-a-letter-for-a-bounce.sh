#!/bin/sh
# Mail::DeliveryStatus::BounceParser 1.543 (Debian 12: libmail-deliverystatus-bounceparser-perl 1.543+repacked-1, unpacked with its libraries
# and not installed) on Perl.
#
# Guess: `is_bounce` is true for a report of a server, and false for the answer of a customer with a From, a text and no report.
# Seen:  each letter is a bounce, with no address and no report, unless its subject is known as one of an automatic answer or its text is a
#        report that the mail is late. A program that drops these drops all mail of customers; only the list of reports tells them apart.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libmail-deliverystatus-bounceparser-perl=1.543+repacked-1 libmime-tools-perl \
  libmailtools-perl libtimedate-perl libconvert-binhex-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.pl <<'PL'
use Mail::DeliveryStatus::BounceParser;
print "Mail::DeliveryStatus::BounceParser $Mail::DeliveryStatus::BounceParser::VERSION\n";
for my $subject (@ARGV) {
  my $bounce = Mail::DeliveryStatus::BounceParser->new("From: Ben <ben\@home.example>\nTo: hello\@shop.example\nSubject: $subject\n"
    . "In-Reply-To: <1\@shop.example>\nDate: Mon, 30 Nov 2026 12:00:00 +0000\n\nMy parcel did not come. Please send it again.\n");
  printf "%s: %s, %d addresses, %d reports\n", $subject, $bounce->is_bounce ? 'bounce' : 'no bounce',
    scalar(() = $bounce->addresses), scalar(() = $bounce->reports);
}
PL
PERL5LIB=$PWD/root/usr/share/perl5 perl see.pl \
  'Re: Your order' 'A new lamp, please' 'Re: Undelivered parcel' 'Out of office: Your order' | tee seen
cat > expected <<'TEXT'
Mail::DeliveryStatus::BounceParser 1.543
Re: Your order: bounce, 0 addresses, 0 reports
A new lamp, please: bounce, 0 addresses, 0 reports
Re: Undelivered parcel: bounce, 0 addresses, 0 reports
Out of office: Your order: no bounce, 0 addresses, 0 reports
TEXT
diff expected seen
echo 'As expected.'
