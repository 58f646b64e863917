#!/bin/sh
# ruby-roadie 5.1.0-1 on Ruby and php-tijsverkoyen-css-to-inline-styles 2.2.6-1, which Laravel uses, on PHP 8.2 (Debian 12, unpacked with
# their libraries and not installed); juice 11.0.1 (npm) on Node for comparison.
#
# Guess: an inliner of CSS leaves the Liquid of a template as it is, as it stands in texts and attributes.
# Seen:  libxml2 writes the html of both, and escapes the octets of `href` and `src`: `{{ link }}` becomes `%7B%7B%20link%20%7D%7D`, and no
#        engine fills it in. In `title` and `background` it stays. A comparison in a tag becomes `&gt;`. juice leaves both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v ruby >/dev/null || apt-get install -yqq ruby >/dev/null
{ command -v php && php -m | grep -qx dom; } >/dev/null || apt-get install -yqq php-cli php-xml >/dev/null
apt-get download -qq ruby-roadie=5.1.0-1 ruby-css-parser ruby-nokogiri ruby-addressable ruby-public-suffix \
  php-tijsverkoyen-css-to-inline-styles=2.2.6-1 php-symfony-css-selector 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund juice@11.0.1
cat > page.html <<'HTML'
<!DOCTYPE html><html><head><style>p{color:#333}</style></head><body>
<p title="{{ name }}">Hello</p>
<a href="{{ link }}">Go</a> <img src="{{ logo }}" alt="">
{% if pieces > 1 %}<p>shown</p>{% endif %}
</body></html>
HTML
cat > see.rb <<'RB'
require 'roadie'
print Roadie::Document.new(File.read('page.html')).transform
RB
cat > see.php <<'PHP'
<?php
require 'TijsVerkoyen/CssToInlineStyles/autoload.php';
print (new TijsVerkoyen\CssToInlineStyles\CssToInlineStyles())->convert(file_get_contents('page.html'));
PHP
cat > see.cjs <<'JS'
process.stdout.write(require('juice')(require('node:fs').readFileSync('page.html', 'utf8')));
JS
lines() { grep -E 'title=|href=|if pieces' "$1"; }
ruby_folders=$(find "$PWD/root/usr/share/rubygems-integration" "$PWD/root/usr/lib/ruby/vendor_ruby" \
  "$PWD/root/usr/lib/x86_64-linux-gnu/ruby" \
  -maxdepth 4 -type d \( -name lib -o -name vendor_ruby -o -name '3.1.0' \) 2>/dev/null | paste -sd:)
RUBYLIB="$ruby_folders" ruby see.rb > roadie.html
php -d "include_path=$PWD/root/usr/share/php" see.php > php.html
node see.cjs > juice.html
for each in roadie php juice; do echo "$each:"; lines "$each.html"; done | tee seen
cat > expected <<'TEXT'
roadie:
<p title="{{ name }}" style="color:#333">Hello</p>
<a href="%7B%7B%20link%20%7D%7D">Go</a> <img src="%7B%7B%20logo%20%7D%7D" alt="">
{% if pieces &gt; 1 %}<p style="color:#333">shown</p>{% endif %}
php:
<p title="{{ name }}" style="color: #333;">Hello</p>
<a href="%7B%7B%20link%20%7D%7D">Go</a> <img src="%7B%7B%20logo%20%7D%7D" alt="">
{% if pieces &gt; 1 %}<p style="color: #333;">shown</p>{% endif %}
juice:
<p title="{{ name }}" style="color: #333;">Hello</p>
<a href="{{ link }}">Go</a> <img src="{{ logo }}" alt>
{% if pieces > 1 %}<p style="color: #333;">shown</p>{% endif %}
TEXT
diff expected seen
echo 'As expected.'
