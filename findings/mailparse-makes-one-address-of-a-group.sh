#!/bin/sh
# The extension mailparse 3.1.4 of PHP 8.2 (Debian 12: php8.2-mailparse 3.1.4+2.1.7~dev20160128-1, unpacked and not installed).
#
# Guess: `mailparse_rfc822_parse_addresses` reads a group as its members, or as an entry with `is_group` that names them.
# Seen:  the address of a group is the rest of the field as it is, with the colon and the semicolon: ":ann@…,ben@…;". Where a mailbox stands
#        before the group, it is no group: its first member has the address "friends:ann@home.example".
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v php >/dev/null || apt-get install -yqq php-cli php-mbstring >/dev/null
apt-get download -qq php8.2-mailparse=3.1.4+2.1.7~dev20160128-1 php8.2-mbstring 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.php <<'PHP'
<?php
echo 'mailparse ', phpversion('mailparse'), "\n";
foreach ([
    'Ann <ann@home.example>, ben@home.example',
    'friends: ann@home.example, ben@home.example;',
    'cleo@home.example, friends: ann@home.example, ben@home.example;',
    'undisclosed-recipients:;',
] as $field) {
    echo "$field\n";
    foreach (mailparse_rfc822_parse_addresses($field) as $each)
        echo '  ', $each['display'], ' <', $each['address'], '>', $each['is_group'] ? ', a group' : '', "\n";
}
PHP
modules=$(find "$PWD/root" -name mailparse.so -printf '%h\n')
php -n -d "extension_dir=$modules" -d extension=mbstring -d extension=mailparse see.php | tee seen
cat > expected <<'TEXT'
mailparse 3.1.4
Ann <ann@home.example>, ben@home.example
  Ann <ann@home.example>
  ben@home.example <ben@home.example>
friends: ann@home.example, ben@home.example;
  friends <:ann@home.example,ben@home.example;>, a group
cleo@home.example, friends: ann@home.example, ben@home.example;
  cleo@home.example <cleo@home.example>
  friends:ann@home.example <friends:ann@home.example>
  ben@home.example <ben@home.example>
   <>
undisclosed-recipients:;
  undisclosed-recipients <:;>, a group
TEXT
diff expected seen
echo 'As expected.'
