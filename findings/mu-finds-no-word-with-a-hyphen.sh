#!/bin/sh
# mu 1.8.14 (Debian 12: maildir-utils 1.8.14-1), unpacked with its libraries and not installed.
#
# Guess: `mu find` finds a message by a word of its text, such as foo-bar or order-4711, and the text of html without its tags.
# Seen:  a word with a hyphen finds nothing, in the text or the subject, with `body:` and in quotation marks neither; with a space in place
#        of the hyphen it is found, and one with an underscore as it is. A message that is html alone is found by no word of its text.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq maildir-utils=1.8.14-1 libgmime-3.0-0 libxapian30 libgpgme11 libassuan0 libgpg-error0 libglib2.0-0 libidn2-0 \
  libunistring2 libffi8 libpcre2-8-0 libuuid1 zlib1g libstdc++6 libgcc-s1 libblkid1 libmount1 libselinux1 libreadline8 libtinfo6 \
  guile-3.0-libs libgc1 libgmp10 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
mkdir -p mail/cur mail/new mail/tmp
message() {
  printf 'From: hello@shop.example\nTo: ann@home.example\nSubject: %s\nMessage-ID: <%s@shop.example>\nDate: Mon, 30 Nov 2026 12:00:00 +0000\nMIME-Version: 1.0\nContent-Type: text/%s\n\n%s\n' \
    "$2" "$1" "$3" "$4" > "mail/cur/$1"
}
message text 'Your letter' plain 'Here is order-4711 with its foo-bar, and user_name.'
message html 'Your parcel' html '<p>Here is the lamp that you ordered.</p>'
message subject 'Your x-ray order-4712' plain 'Hello.'
export LC_ALL=C.UTF-8
mu() { LD_LIBRARY_PATH="$libraries" root/usr/bin/mu "$@"; }
mu --version | head -1 | tee seen
mu init --quiet --muhome=index --maildir="$PWD/mail" >log 2>&1
mu index --quiet --muhome=index >log 2>&1
for search in letter foo-bar 'body:foo-bar' '"foo-bar"' '"foo bar"' order-4711 '"order 4711"' user_name x-ray order-4712 parcel lamp ordered; do
  echo "$search: $(mu find --muhome=index --fields=i "$search" 2>/dev/null | sed 's/@.*//' || echo nothing)"
done | tee -a seen
cat > expected <<'TEXT'
mu (mail indexer/searcher) version 1.8.13
letter: text
foo-bar: 
body:foo-bar: 
"foo-bar": 
"foo bar": text
order-4711: 
"order 4711": text
user_name: text
x-ray: 
order-4712: 
parcel: html
lamp: 
ordered: 
TEXT
diff expected seen
echo 'As expected.'
