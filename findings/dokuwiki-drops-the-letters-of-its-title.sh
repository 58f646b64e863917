#!/bin/sh
# DokuWiki 0.0.20220731.a-2 (Debian 12), unpacked and not installed, on PHP 8.2; postal-mime 4.0.0 (npm) on Node reads what its Mailer writes.
#
# Guess: fields and names beyond ASCII are encoded words of at most 75 characters (RFC 2047 2), a quoted name without its quotation marks.
# Seen:  the title of the wiki loses its letters beyond ASCII and each `&` in List-Id; that field is in each message, so that a letter for
#        one person is mail of a list. The quotation marks of a name are within the encoded word, and readers show them. The subject is one
#        encoded word of any length.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v php >/dev/null || apt-get install -yqq php-cli php-xml >/dev/null
apt-get download -qq dokuwiki=0.0.20220731.a-2 2>apt.log
dpkg -x dokuwiki_*.deb root
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0
cat > see.php <<'PHP'
<?php
error_reporting(E_ERROR);
// What the program has of the wiki's own parts, for its Mailer alone.
$conf = ['mailfrom' => 'wiki@shop.example', 'title' => 'Größe & Maß', 'mailprefix' => 'Wiki', 'mailreturnpath' => '', 'htmlmail' => 0];
define('DOKU_URL', 'https://wiki.shop.example/');
define('DOKU_BASE', '/');
define('DOKU_INC', 'root/usr/share/dokuwiki/');
define('MAILHEADER_EOL', "\n");
spl_autoload_register(function ($class) {
    $file = 'root/usr/share/dokuwiki/inc/' . str_replace('\\', '/', preg_replace('/^dokuwiki./', '', $class)) . '.php';
    if (is_file($file)) require_once $file;
});
$INPUT = new class { public $server; function __construct() { $this->server = $this; } function str() { return ''; } };
function clientIP() { return '192.0.2.1'; }
function gethostsbyaddrs() { return 'host.example'; }
function dformat() { return ''; }
function hsc($text) { return htmlspecialchars((string) $text); }
function blank($in) { return $in === null || trim((string) $in) === ''; }
function getBaseURL() { return '/'; }
function wl() { return '/'; }
function isWindows() { return false; }
function conf_decodeString($text) { return $text; }
foreach (['utf8.php', 'mail.php', 'Mailer.class.php'] as $file) require_once "root/usr/share/dokuwiki/inc/$file";
require_once 'root/usr/share/dokuwiki/vendor/aziraphale/email-address-validator/EmailAddressValidator.php';
$mail = new Mailer();
$mail->to('"Ada, L." <ada@home.example>');
$mail->subject('Änderung der Seite „Größe“ – ein recht langer Betreff');
$mail->setText("Hello.\n");
echo $mail->dump();
PHP
php see.php > message
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import PostalMime from 'postal-mime';
const source = readFileSync('message');
const { to, subject } = await PostalMime.parse(source);
console.log(/^List-Id.*/m.exec(source)[0]);
console.log(`to ${to[0].name}`);
console.log(`subject ${subject}, of ${/^Subject:\s+(\S+)$/m.exec(source)[1].length} characters`);
JS
node see.mjs | tee seen
cat > expected <<'TEXT'
List-Id: Gre  Ma <wiki.shop.example>
to "Ada, L."
subject [Wiki] Änderung der Seite „Größe“ – ein recht langer Betreff, of 104 characters
TEXT
diff expected seen
echo 'As expected.'
