#!/bin/sh
# pandoc 2.17.1.1 (Debian 12: pandoc 2.17.1.1-2~deb12u1), w3m 0.5.3 and lynx 2.9.0 (Debian 12), unpacked and not installed.
#
# Guess: `pandoc -f html -t plain` makes the text part of an email with the address of each link, as lynx does.
# Seen:  the words of the link stay and its address is gone, so that "Confirm" and "Unsubscribe" lead nowhere. A picture in a link is its
#        text in brackets. `--reference-links` lists the addresses; w3m with -dump drops them, too, unless it has
#        `-o display_link_number=1`. lynx numbers the links and lists them below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq pandoc=2.17.1.1-2~deb12u1 pandoc-data=2.17.1.1-2~deb12u1 w3m lynx libgmp10 liblua5.3-0 libyaml-0-2 \
  libgc1 libgpm2 libtinfo6 libncursesw6 libgnutls30 libbsd0 libidn2-0 libssl3 zlib1g libnettle8 libhogweed6 libp11-kit0 \
  libtasn1-6 libunistring2 libffi8 libmd0 lynx-common 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > email.html <<'HTML'
<p>Hello Ann, <a href="https://shop.example/confirm/1">Confirm</a></p>
<p><a href="https://shop.example/buy/2"><img src="b.png" alt="Buy now"></a> <a href="https://shop.example/leave/3">Unsubscribe</a></p>
HTML
export LD_LIBRARY_PATH="$libraries" LC_ALL=C.UTF-8 HOME="$PWD"
{
  pandoc="root/usr/bin/pandoc --data-dir=root/usr/share/pandoc/data -f html -t plain"
  for program in "$pandoc" "$pandoc --reference-links" \
    'root/usr/bin/w3m -dump -T text/html' 'root/usr/bin/lynx -cfg=root/etc/lynx/lynx.cfg -dump'; do
    printf '%s: ' "$(echo "$program" | sed 's#root/usr/bin/##; s#--data-dir=[^ ]* ##; s#-cfg=[^ ]* ##')"
    echo "$($program email.html | grep -c shop.example/) addresses of 3"
    $program email.html
  done
} 2>>log | grep . | tee seen
cat > expected <<'TEXT'
pandoc -f html -t plain: 0 addresses of 3
Hello Ann, Confirm
[Buy now] Unsubscribe
pandoc -f html -t plain --reference-links: 3 addresses of 3
Hello Ann, Confirm
[Buy now] Unsubscribe
  [Confirm]: https://shop.example/confirm/1
  [Buy now]: b.png
  [1]: https://shop.example/buy/2
  [Unsubscribe]: https://shop.example/leave/3
w3m -dump -T text/html: 0 addresses of 3
Hello Ann, Confirm
Buy now Unsubscribe
lynx -dump: 3 addresses of 3
   Hello Ann, [1]Confirm
   [2]Buy now [3]Unsubscribe
References
   1. https://shop.example/confirm/1
   2. https://shop.example/buy/2
   3. https://shop.example/leave/3
TEXT
diff expected seen
echo 'As expected.'
