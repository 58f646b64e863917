#!/bin/sh
# bogofilter 1.2.5 (Debian 12: bogofilter-bdb 1.2.5-1+b2 with bogofilter-common, unpacked and not installed).
#
# Guess: bogofilter learns the same words of a message, in whichever way it is written: the charset, the encoding, or html with entities,
#        as editors of newsletters write it.
# Seen:  UTF-8 in base64 and latin-1 in quoted-printable are the same word, and html comments are taken out. Entities are read as they
#        stand: `Caf&eacute;` is the words Caf and eacute, and `M&#252;ller` is ller alone, so that what was learnt of one says nothing
#        about the other.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq bogofilter-bdb=1.2.5-1+b2 bogofilter-common libdb5.3 libgsl27 libgslcblas0 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
words() {
  printf '%s: ' "$1"
  printf 'MIME-Version: 1.0\nContent-Type: %s\nContent-Transfer-Encoding: %s\n\n%s\n' "$2" "$3" "$4" |
    LD_LIBRARY_PATH=$libraries LC_ALL=C.UTF-8 root/usr/bin/bogolexer-bdb -p | grep -v '^head:' | paste -sd' '
}
{
  words 'UTF-8, base64' 'text/plain; charset=utf-8' base64 Q2Fmw6kgTcO8bGxlciB2ZXJrYXVmdA==
  words 'latin-1, quoted-printable' 'text/plain; charset=iso-8859-1' quoted-printable 'Caf=E9 M=FCller verkauft'
  words 'html, UTF-8' 'text/html; charset=utf-8' 8bit '<p>Café <b>Mü</b>ller ver<!-- x -->kauft</p>'
  words 'html, entities' 'text/html; charset=utf-8' 7bit '<p>Caf&eacute; <b>M&#252;</b>ller verkauft</p>'
} | tee seen
cat > expected <<'TEXT'
UTF-8, base64: Café Müller verkauft
latin-1, quoted-printable: Café Müller verkauft
html, UTF-8: Café Müller verkauft
html, entities: Caf eacute ller verkauft
TEXT
diff expected seen
echo 'As expected.'
