#!/bin/sh
# spamassassin 4.0.1-1~deb12u1 (Debian 12) with its rules and scores, unpacked with its libraries and not installed; no network tests.
#
# Guess: the rules FUZZY_* find words that are written in odd letters to hide them, such as "crѐd1t". Words of French, Spanish or Catalan
#        have none of their points; the rules name "crédit", "crédito" and "sécurité" as exceptions.
# Seen:  the exceptions hold for small letters alone: CRÉDIT AGRICOLE, TARJETA DE CRÉDITO and the Catalan "crèdit" have 1.7 of the 5 points
#        that mark mail as spam, SÉCURITÉ has one, and so has "Androïde", which is no exception at all. All three are more than 3.6.
set -eu
cd "$(mktemp -d)"
apt-get download -qq spamassassin=4.0.1-1~deb12u1 libhtml-parser-perl libhtml-tagset-perl libnet-dns-perl libnetaddr-ip-perl \
  liberror-perl liburi-perl libtimedate-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.pl <<'PL'
use strict; use warnings; use utf8;
use Encode; use MIME::Base64; use POSIX; use Mail::SpamAssassin;
binmode STDOUT, ':utf8';
my $scanner = Mail::SpamAssassin->new({ rules_filename => 'root/usr/share/spamassassin', site_rules_filename => 'root/etc/spamassassin',
  userstate_dir => 'state', LOCAL_STATE_DIR => 'state', dont_copy_prefs => 1, local_tests_only => 1 });
my $date = strftime('%a, %d %b %Y %H:%M:%S +0000', gmtime);
for my $text ('Crédit Agricole', 'CRÉDIT AGRICOLE', 'tarjeta de crédito', 'TARJETA DE CRÉDITO', 'targeta de crèdit', 'Sécurité', 'SÉCURITÉ',
  'Android', 'Androïde', 'CRÉDIT: SÉCURITÉ Androïde') {
  my $message = "From: Shop <news\@shop.de>\nTo: ann\@home.de\nMessage-ID: <a1b2c3\@shop.de>\nDate: $date\nSubject: Hello\n" .
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" .
    encode_base64(encode('UTF-8', "$text\n\nHello Ann, this is a text of a few words more.\n"));
  my $status = $scanner->check($scanner->parse($message));
  my @hits = map { "$_ $status->{conf}{scores}{$_}" } grep { /FUZZY/ } split /,/, $status->get_names_of_tests_hit();
  print "$text: ", (join ', ', @hits) || 'none', "\n";
}
PL
mkdir state
PERL5LIB=$PWD/root/usr/share/perl5:$PWD/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)/perl5/5.36 \
  perl see.pl | tee seen
cat > expected <<'TEXT'
Crédit Agricole: none
CRÉDIT AGRICOLE: FUZZY_CREDIT 1.699
tarjeta de crédito: none
TARJETA DE CRÉDITO: FUZZY_CREDIT 1.699
targeta de crèdit: FUZZY_CREDIT 1.699
Sécurité: none
SÉCURITÉ: FUZZY_SECURITY 1
Android: none
Androïde: FUZZY_ANDROID 1
CRÉDIT: SÉCURITÉ Androïde: FUZZY_ANDROID 1, FUZZY_CREDIT 1.699, FUZZY_SECURITY 1
TEXT
diff expected seen
echo 'As expected.'
