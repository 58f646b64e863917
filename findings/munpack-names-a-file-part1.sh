#!/bin/sh
# munpack of mpack 1.6 (Debian 12: mpack 1.6-18+b1) and ripmime 1.4.0.10 (1.4.0.10.debian.1-3+b1), unpacked and not installed.
#
# Guess: munpack writes the files of a message with the names that they have there: by RFC 2231, as mail programs write a name with an
#        accent or a long one, and as encoded words.
# Seen:  a name by RFC 2231, with an accent or in sections, is no name: the file is "part1", without its `.pdf`. An encoded word is written
#        as it stands, with X for each question mark. ripmime has all three names.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq mpack=1.6-18+b1 ripmime=1.4.0.10.debian.1-3+b1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > message.eml <<'TEXT'
From: ann@home.example
Subject: Report
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: application/pdf
Content-Disposition: attachment; filename*=UTF-8''Bericht%20M%C3%A4rz.pdf
Content-Transfer-Encoding: base64

JVBERi0=
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename*0="a-long-"; filename*1="name.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--b
Content-Type: application/pdf; name="=?UTF-8?Q?M=C3=A4rz.pdf?="
Content-Disposition: attachment
Content-Transfer-Encoding: base64

JVBERi0=
--b
Content-Type: application/pdf; name="plain.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--b--
TEXT
mkdir munpack ripmime
root/usr/bin/munpack -q -C munpack "$PWD/message.eml" >munpack.log 2>&1
root/usr/bin/ripmime -i message.eml -d ripmime >ripmime.log 2>&1
for name in munpack ripmime; do (cd $name && LC_ALL=C ls | grep -v '^textfile' | sed "s/^/$name: /"); done | tee seen
cat > expected <<'TEXT'
munpack: =XUTF-8XQXM=C3=A4rz.pdfX=
munpack: part1
munpack: part2
munpack: plain.pdf
ripmime: Bericht März.pdf
ripmime: März.pdf
ripmime: a-long-name.pdf
ripmime: plain.pdf
TEXT
diff expected seen
echo 'As expected.'
