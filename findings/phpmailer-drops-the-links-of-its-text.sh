#!/bin/sh
# PHPMailer 6.6.3 (Debian 12: libphp-phpmailer 6.6.3-1) on PHP 8.2 (php8.2-cli), unpacked with their libraries and not installed.
#
# Guess: `msgHTML` makes a plain text of the html that can be read: paragraphs in lines, cells apart, and the address behind each link.
# Seen:  the tags are removed and nothing is put in their place: two paragraphs and the cells of a table run together, and the address to
#        unsubscribe is nowhere in the plain text.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libphp-phpmailer=6.6.3-1 php8.2-cli php8.2-common libargon2-1 libedit2 libbsd0 libmd0 libtinfo6 libxml2 libicu72 \
  libpcre2-8-0 libsodium23 libssl3 zlib1g libapparmor1 libstdc++6 libgcc-s1 liblzma5 libmagic1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > see.php <<'PHP'
<?php
require 'root/usr/share/php/libphp-phpmailer/src/Exception.php';
require 'root/usr/share/php/libphp-phpmailer/src/PHPMailer.php';
$message = new PHPMailer\PHPMailer\PHPMailer(true);
$message->msgHTML('<p>Hello Ann</p><p>Your order:</p><table><tr><td>Lamp</td><td>2</td><td>49.00</td></tr></table>'
  . '<p><a href="https://shop.example/leave/1">Unsubscribe</a></p>');
echo json_encode($message->AltBody), "\n";
PHP
LD_LIBRARY_PATH=$libraries root/usr/bin/php8.2 -n see.php | tee seen
cat > expected <<'TEXT'
"Hello AnnYour order:Lamp249.00Unsubscribe"
TEXT
diff expected seen
echo 'As expected.'
