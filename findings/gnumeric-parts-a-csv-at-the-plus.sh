#!/bin/sh
# ssconvert of gnumeric 1.12.55-1 (Debian 12, amd64), unpacked with the libraries that the machine lacks, and not installed.
#
# Guess: a file `contacts.csv` in which each line has the same number of commas is parted at the commas, as RFC 4180 has it.
# Seen:  the character behind a quoted cell and its comma is taken for the separator if it is no letter or digit: after one line with
#        "Doe, Jane",+4917012345 the whole file is parted at `+`, and each other line is one cell. The same for -5, #vip and $7. With
#        quotation marks at all cells, or the telephone number elsewhere, it is parted at the commas (and the `+` is lost).
set -eu
cd "$(mktemp -d)"
mkdir -p debs/partial
apt-get install -yqq --no-install-recommends --download-only -o Dir::Cache::archives="$PWD/debs/" gnumeric=1.12.55-1 >apt.log 2>&1
for package in debs/*.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH LC_ALL=C.UTF-8
# converted NAME LINE…
converted() {
  echo "$1:"
  shift
  printf '%s\n' "$@" > contacts.csv
  root/usr/bin/ssconvert contacts.csv out.csv 2>convert.log
  sed 's/^/  /' out.csv
}
{
  converted 'a number behind a quoted name' 'email,name,phone' 'ann@home.example,Ann,030 123456' 'jane@home.example,"Doe, Jane",+4917012345'
  converted 'a price behind a quoted name' 'email,name,balance' 'ann@home.example,Ann,12' 'jane@home.example,"Doe, Jane",-5'
  converted 'all cells quoted' '"email","name","phone"' '"ann@home.example","Ann","030 123456"' '"jane@home.example","Doe, Jane","+4917012345"'
  converted 'a number before the name' 'email,phone,name' 'ann@home.example,030 123456,Ann' 'jane@home.example,+4917012345,"Doe, Jane"'
} | tee seen
cat > expected <<'TEXT'
a number behind a quoted name:
  "email,name,phone",
  "ann@home.example,Ann,030 123456",
  "jane@home.example,""Doe, Jane"",",4917012345
a price behind a quoted name:
  "email,name,balance",
  "ann@home.example,Ann,12",
  "jane@home.example,""Doe, Jane"",",5
all cells quoted:
  email,name,phone
  ann@home.example,Ann,"030 123456"
  jane@home.example,"Doe, Jane",4917012345
a number before the name:
  email,phone,name
  ann@home.example,"030 123456",Ann
  jane@home.example,4917012345,"Doe, Jane"
TEXT
diff expected seen
echo 'As expected.'
