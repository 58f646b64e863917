#!/bin/sh
# DateTime::Format::Mail 0.4030 (Debian 12: libdatetime-format-mail-perl 0.4030-3, unpacked with its libraries and not installed) on Perl.
#
# Guess: `parse_datetime` reads the Date of any mail (RFC 5322, 3.3): with the name of the zone in brackets behind it, as half of all mail has
#        it, and without seconds.
# Seen:  both are an error. `loose` reads them, and takes a zone that it does not know, such as CEST, for no zone at all, without an error:
#        the time is two hours off where that is UTC.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libdatetime-format-mail-perl=0.4030-3 libdatetime-perl libdatetime-locale-perl libdatetime-timezone-perl \
  libparams-validate-perl libclass-singleton-perl libparams-validationcompiler-perl libspecio-perl libdevel-stacktrace-perl libeval-closure-perl \
  libexception-class-perl libclass-data-inheritable-perl libmodule-implementation-perl libmodule-runtime-perl libnamespace-autoclean-perl libtry-tiny-perl \
  libb-hooks-endofscope-perl libnamespace-clean-perl libpackage-stash-perl libsub-identify-perl libsub-exporter-progressive-perl \
  libfile-sharedir-perl libclass-inspector-perl libmro-compat-perl libsub-quote-perl librole-tiny-perl libpackage-stash-xs-perl \
  libvariable-magic-perl 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.pl <<'PL'
use DateTime::Format::Mail;
for my $text ('Tue, 1 Dec 2026 09:00:00 +0100', 'Tue, 1 Dec 2026 09:00:00 +0100 (CET)', 'Tue, 1 Dec 2026 09:00 +0100',
  'Tue, 1 Sep 2026 09:00:00 CEST') {
  for my $loose (0, 1) {
    my $parser = DateTime::Format::Mail->new;
    $parser->loose if $loose;
    my $date = eval { $parser->parse_datetime($text) };
    print "$text", $loose ? ', loose' : '', ': ', $date ? $date->iso8601 . ' ' . $date->time_zone->name : 'error', "\n";
  }
}
PL
PERL5LIB=$PWD/root/usr/share/perl5:$(echo "$PWD"/root/usr/lib/x86_64-linux-gnu/perl5/*) perl see.pl | tee seen
cat > expected <<'TEXT'
Tue, 1 Dec 2026 09:00:00 +0100: 2026-12-01T09:00:00 +0100
Tue, 1 Dec 2026 09:00:00 +0100, loose: 2026-12-01T09:00:00 +0100
Tue, 1 Dec 2026 09:00:00 +0100 (CET): error
Tue, 1 Dec 2026 09:00:00 +0100 (CET), loose: 2026-12-01T09:00:00 +0100
Tue, 1 Dec 2026 09:00 +0100: error
Tue, 1 Dec 2026 09:00 +0100, loose: 2026-12-01T09:00:00 +0100
Tue, 1 Sep 2026 09:00:00 CEST: error
Tue, 1 Sep 2026 09:00:00 CEST, loose: 2026-09-01T09:00:00 floating
TEXT
diff expected seen
echo 'As expected.'
