#!/bin/sh
# GMime 3.2.13 (Debian 12, amd64: libgmime-3.0-0 3.2.13+dfsg-2), as notmuch 0.37-1+b1 reads by it, unpacked with their libraries and not
# installed.
#
# Guess: a subject of several encoded words is the text of all of them (RFC 2047 6.2), be they of type Q or B.
# Seen:  neighbours of type B are joined before they are decoded, and decoding ends at the first padding: all words behind one that ends
#        with `=` are lost, without a sign. Words of a multiple of three octets, those of type Q, and a word of each type are right. A
#        long subject in Cyrillic or Greek, at two octets a letter, is often cut.
set -eu
cd "$(mktemp -d)"
apt-get download -qq notmuch=0.37-1+b1 libgmime-3.0-0=3.2.13+dfsg-2 libnotmuch5 libxapian30 libtalloc2 libgpgme11 libassuan0 libgpg-error0 \
  libglib2.0-0 libsexp1 libblkid1 libmount1 libselinux1 libidn2-0 libunistring2 libffi8 libpcre2-8-0 libuuid1 zlib1g libstdc++6 libgcc-s1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
mkdir -p mail/cur mail/new mail/tmp
printf '[database]\npath=%s\n[user]\nname=Ann\nprimary_email=ann@home.example\n' "$PWD/mail" > config
message() {
  printf 'From: hello@shop.example\nTo: ann@home.example\nSubject: %s\nMessage-ID: <%s@shop.example>\nDate: Mon, 30 Nov 2026 12:00:00 +0000\n\nHello.\n' \
    "$2" "$1" > "mail/cur/$1"
}
# "Ваш заказ: " has 19 octets, "Ваш заказ " and "отправлен" 18.
message padded '=?UTF-8?B?0JLQsNGIINC30LDQutCw0Lc6IA==?= =?UTF-8?B?0L7RgtC/0YDQsNCy0LvQtdC9?='
message whole '=?UTF-8?B?0JLQsNGIINC30LDQutCw0Lcg?= =?UTF-8?B?0L7RgtC/0YDQsNCy0LvQtdC9?='
message quoted '=?UTF-8?Q?M=C3=A4rz_?= =?UTF-8?Q?zwei?='
message mixed '=?UTF-8?B?TcOkcno=?= =?UTF-8?Q?_zwei?='
message both '=?UTF-8?B?TcOkcno=?= =?UTF-8?B?IHp3ZWk=?='
export NOTMUCH_CONFIG="$PWD/config" LC_ALL=C.UTF-8 LD_LIBRARY_PATH="$libraries"
root/usr/bin/notmuch new >/dev/null 2>&1
for each in padded whole quoted mixed both; do
  echo "$each: $(root/usr/bin/notmuch show --format=json "id:$each@shop.example" | grep -oE '"Subject": "[^"]*"')"
done | tee seen
cat > expected <<'TEXT'
padded: "Subject": "Ваш заказ: "
whole: "Subject": "Ваш заказ отправлен"
quoted: "Subject": "März zwei"
mixed: "Subject": "März zwei"
both: "Subject": "März"
TEXT
diff expected seen
echo 'As expected.'
