#!/bin/sh
# csvkit 1.0.7-1 with agate 1.6.3-2 (Debian 12), unpacked with their libraries and not installed.
#
# Guess: `csvsort` puts the lines of a file into another order and keeps their cells.
# Seen:  it guesses the type of each column and writes the values of that type: postal codes lose their zeros and telephone numbers their
#        `+`, 1 and 0 become True and False, "1,5" becomes 15, and a column of April and May has two days of the year 1. People named None,
#        Null or Na have an empty name, also with `--no-inference`; only `--blanks` beside it keeps all cells.
set -eu
cd "$(mktemp -d)"
python3 -c 'import re' || apt-get install -yqq python3 >/dev/null
apt-get download -qq csvkit=1.0.7-1 python3-csvkit=1.0.7-1 python3-agate=1.6.3-2 python3-agatedbf python3-agateexcel python3-agatesql \
  python3-babel python-babel-localedata python3-dbfread python3-et-xmlfile python3-isodate python3-jdcal python3-leather python3-olefile \
  python3-openpyxl python3-parsedatetime python3-pytimeparse python3-six python3-slugify python3-sqlalchemy python3-text-unidecode \
  python3-tz python3-unidecode python3-xlrd 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > contacts.csv <<'TEXT'
email,first_name,last_name,zip,phone,news,hours
ben@home.example,May,Null,08900,+4930123456,0,"2,25"
ann@home.example,April,None,01234,+4917012345,1,"1,5"
eve@home.example,June,Na,10115,+4940123457,1,"3,5"
TEXT
sorted() { PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages python3 -S root/usr/bin/csvsort "$@" contacts.csv; }
{
  sorted
  sorted --no-inference
  sorted --no-inference --blanks
} | tee seen
cat > expected <<'TEXT'
email,first_name,last_name,zip,phone,news,hours
ann@home.example,0001-04-01,,1234,4917012345,True,15
ben@home.example,0001-05-01,,8900,4930123456,False,225
eve@home.example,0001-06-01,,10115,4940123457,True,35
email,first_name,last_name,zip,phone,news,hours
ann@home.example,April,,01234,+4917012345,1,"1,5"
ben@home.example,May,,08900,+4930123456,0,"2,25"
eve@home.example,June,,10115,+4940123457,1,"3,5"
email,first_name,last_name,zip,phone,news,hours
ann@home.example,April,None,01234,+4917012345,1,"1,5"
ben@home.example,May,Null,08900,+4930123456,0,"2,25"
eve@home.example,June,Na,10115,+4940123457,1,"3,5"
TEXT
diff expected seen
echo 'As expected.'
