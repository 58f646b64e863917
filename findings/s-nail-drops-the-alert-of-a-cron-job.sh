#!/bin/sh
# s-nail 14.9.24-2 (Debian 12, amd64), unpacked with its libraries and not installed, with the s-nail.rc of its package.
#
# Guess: in the locale C, that of cron jobs and containers, a text beyond ASCII leaves as the octets that it has, at worst with a wrong
#        charset, as by bsd-mailx. The rc file has `sendcharsets=utf-8,iso-8859-1`.
# Seen:  it is not sent at all. One letter in the text or the subject is enough: the message goes to dead.letter, the exit code is 4. With
#        `ttycharset=utf-8`, or in C.UTF-8, it is sent; there, an attached text file in Latin-1 keeps the whole message back.
set -eu
cd "$(mktemp -d)"
apt-get download -qq s-nail=14.9.24-2 libgssapi-krb5-2 libcom-err2 libidn2-0 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 libssl3 \
  libtinfo6 libunistring2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
printf 'caf\351\n' > latin1.txt
# mail NAME LOCALE OPTION…
mail() {
  name=$1 locale=$2
  shift 2
  code=0
  LC_ALL=$locale root/usr/bin/s-nail -:/ -X "source $PWD/root/etc/s-nail.rc" -S mta=test -S "DEAD=$PWD/dead.letter" -S from=backup@shop.example "$@" \
    ben@home.example >sent 2>error || code=$?
  echo "$name: $(grep -c '^From: ' sent || true) sent, exit code $code, $(grep -o 'Cannot find a usable character set' error || echo 'no error')"
}
{
  echo 'The disk is full' | mail 'ASCII in C' C -s Backup
  echo 'Der Datenträger ist voll' | mail 'a text in C' C -s Backup
  echo 'The disk is full' | mail 'a subject in C' C -s 'Prüfung'
  echo 'Der Datenträger ist voll' | mail 'a text in C, with ttycharset' C -s Backup -S ttycharset=utf-8
  echo 'Der Datenträger ist voll' | mail 'a text in C.UTF-8' C.UTF-8 -s Backup
  echo 'The disk is full' | mail 'a file in C.UTF-8' C.UTF-8 -s Backup -a latin1.txt
} | tee seen
cat > expected <<'TEXT'
ASCII in C: 1 sent, exit code 0, no error
a text in C: 0 sent, exit code 4, Cannot find a usable character set
a subject in C: 0 sent, exit code 4, Cannot find a usable character set
a text in C, with ttycharset: 1 sent, exit code 0, no error
a text in C.UTF-8: 1 sent, exit code 0, no error
a file in C.UTF-8: 0 sent, exit code 4, Cannot find a usable character set
TEXT
diff expected seen
echo 'As expected.'
