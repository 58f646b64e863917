#!/bin/sh
# Swift Mailer 6.3.0 (Debian 12: php-swiftmailer 6.3.0-3) on PHP 8.2 (php8.2-cli), unpacked with their libraries and not installed.
#
# Guess: a text, its html (`addPart`) and a picture of the html (`embed`) are an alternative of the text, and the html with its picture.
# Seen:  with the text as the body there is no alternative: text, html and picture are parts of one multipart/related, whose root is the text
#        (RFC 2387). Readers that follow it show the text and have the html as a file; others show both, one below the other. With the html as
#        the body, and the text as the part, it is as guessed; so is it without the picture.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq php-swiftmailer=6.3.0-3 php-email-validator php-doctrine-lexer php-doctrine-deprecations php-psr-log \
  php8.2-cli php8.2-common php8.2-mbstring libonig5 libargon2-1 libedit2 libbsd0 libmd0 libtinfo6 libxml2 libicu72 \
  libpcre2-8-0 libsodium23 libssl3 zlib1g libapparmor1 libstdc++6 libgcc-s1 liblzma5 libmagic1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > see.php <<'PHP'
<?php
error_reporting(E_ALL & ~E_DEPRECATED);
set_include_path('root/usr/share/php');
require 'Swift/autoload.php';
$write = function ($what, $first, $second, $hasPicture) {
  $message = (new Swift_Message('Lamps'))->setFrom('hello@shop.example')->setTo('ann@home.example');
  $message->setBody('x', $first)->addPart('x', $second);
  if ($hasPicture) $message->embed(new Swift_Image('x', 'logo.png', 'image/png'));
  preg_match_all('/^Content-Type: ([^;\r\n]+)/m', $message->toString(), $found);
  echo $what, ': ', implode(', ', $found[1]), "\n";
};
$write('text, html', 'text/plain', 'text/html', false);
$write('text, html, picture', 'text/plain', 'text/html', true);
$write('html, text, picture', 'text/html', 'text/plain', true);
PHP
LD_LIBRARY_PATH=$libraries root/usr/bin/php8.2 -n -d extension_dir="$(dirname "$(find root -name mbstring.so)")" -d extension=mbstring see.php | tee seen
cat > expected <<'TEXT'
text, html: multipart/alternative, text/plain, text/html
text, html, picture: multipart/related, text/plain, text/html, image/png
html, text, picture: multipart/alternative, text/plain, multipart/related, text/html, image/png
TEXT
diff expected seen
echo 'As expected.'
