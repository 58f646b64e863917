#!/bin/sh
# Email::Stuffer 0.020 with Email::Sender 2.600 (Debian 12: libemail-stuffer-perl 0.020-1, libemail-sender-perl 2.600-1, unpacked with their
# libraries and not installed) on Perl.
#
# Guess: `bcc` sends a copy that the others do not see.
# Seen:  it is the other way round: the address stands in a Bcc field, which all other recipients get, and no copy is sent to it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libemail-stuffer-perl=0.020-1 libemail-sender-perl=2.600-1 libb-hooks-op-check-perl libcapture-tiny-perl \
  libclass-method-modifiers-perl libclass-xsaccessor-perl libdata-optlist-perl libdevel-callchecker-perl libdevel-stacktrace-perl \
  libdynaloader-functions-perl libemail-abstract-perl libemail-address-xs-perl libemail-date-format-perl libemail-messageid-perl \
  libemail-mime-contenttype-perl libemail-mime-encodings-perl libemail-mime-perl libemail-simple-perl libimport-into-perl \
  libmime-types-perl libmodule-pluggable-perl libmodule-runtime-perl libmoo-perl libmoox-types-mooselike-perl libmro-compat-perl \
  libparams-classify-perl libparams-util-perl librole-tiny-perl libsub-exporter-perl libsub-install-perl libsub-quote-perl \
  libtext-unidecode-perl libthrowable-perl libtry-tiny-perl libparams-validate-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.pl <<'PL'
use Email::Sender::Transport::Test;
use Email::Stuffer;
my $transport = Email::Sender::Transport::Test->new;
print "Email::Stuffer $Email::Stuffer::VERSION, Email::Sender $Email::Sender::VERSION\n";
Email::Stuffer->from('hello@shop.example')->to('ann@home.example')->cc('cleo@home.example')->bcc('ben@home.example')
  ->subject('Hello')->text_body("Hello.\n")->transport($transport)->send_or_die;
for my $delivery ($transport->deliveries) {
  print "recipients: @{$delivery->{successes}}\n";
  print "Bcc field: ", $delivery->{email}->get_header('Bcc') // 'none', "\n";
}
PL
PERL5LIB=$PWD/root/usr/share/perl5:$PWD/root/usr/lib/x86_64-linux-gnu/perl5/5.36 perl see.pl | tee seen
cat > expected <<'TEXT'
Email::Stuffer 0.020, Email::Sender 2.600
recipients: ann@home.example cleo@home.example
Bcc field: ben@home.example
TEXT
diff expected seen
echo 'As expected.'
