#!/bin/sh
# PostgreSQL 15.19 (postgresql-15 and postgresql-client-15 of Debian 12), unpacked and not installed.
#
# Guess: what `\copy … to 'file' csv` writes, `\copy … from 'file' csv` reads: `\.` ends the data of the text format, and is a cell in CSV.
# Seen:  a text with the line `\.`, as in a mail about a mail server, is written inside quotation marks, and psql ends its reading there:
#        "unterminated CSV quoted field", no row. The server reads the same file (`copy … from`). Without quotation marks both end at that
#        line without an error: two rows of four are stored.
set -eu
cd "$(mktemp -d)"
chmod 755 .
apt-get download -qq postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1 libcap2 libcom-err2 libffi8 libgcrypt20 libgmp10 \
  libgnutls30 libgpg-error0 libgssapi-krb5-2 libhogweed6 libicu72 libidn2-0 libk5crypto3 libkeyutils1 libkrb5-3 libkrb5support0 \
  libldap-2.5-0 liblz4-1 liblzma5 libnettle8 libp11-kit0 libpam0g libpq5 libreadline8 libsasl2-2 libssl3 libsystemd0 libtasn1-6 \
  libtinfo6 libunistring2 libxml2 libzstd1 zlib1g 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
bin=$PWD/root/usr/lib/postgresql/15/bin
mkdir data
chown nobody data
as() { setpriv --reuid=nobody --clear-groups env LC_ALL=C.UTF-8 "$@"; }
as "$bin/initdb" -D data -A trust -U postgres >initdb.log 2>&1
as "$bin/pg_ctl" -D data -w -o "-k $PWD/data -c listen_addresses=''" -l data/log start >start.log
trap 'as "$bin/pg_ctl" -D data -m immediate stop >stop.log' EXIT
ask() { "$bin/psql" -X -h "$PWD/data" -U postgres -qAt "$@" 2>&1 | sed -n 's/^ERROR: */error: /p; t; /^CONTEXT/,$!p'; }
ask -c "create table mails (id int, text text)" -c "insert into mails values (1, E'Hello\n\\\\.\nAnn'), (2, 'Bye')"
ask -c '\copy mails to mails.csv csv'
printf 'ann\nben\n\\.\neve\n' > names.csv
chmod 644 ./*.csv
{
  cat mails.csv
  echo "psql: $(ask -c 'truncate mails' -c '\copy mails from mails.csv csv'), $(ask -c 'select count(*) from mails') rows"
  echo "server: $(ask -c "copy mails from '$PWD/mails.csv' csv" -c 'select count(*) from mails') rows"
  ask -c 'create table names (name text)' -c '\copy names from names.csv csv'
  echo "names: $(ask -c 'select count(*) from names') rows by psql"
  echo "names: $(ask -c 'truncate names' -c "copy names from '$PWD/names.csv' csv" -c 'select count(*) from names') rows by the server"
} | tee seen
cat > expected <<'TEXT'
1,"Hello
\.
Ann"
2,Bye
psql: error: unterminated CSV quoted field, 0 rows
server: 2 rows
names: 2 rows by psql
names: 2 rows by the server
TEXT
diff expected seen
echo 'As expected.'
