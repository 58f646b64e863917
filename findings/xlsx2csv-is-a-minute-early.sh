#!/bin/sh
# xlsx2csv 0.7.8 (1:0.7.8-1) and openpyxl 3.0.9 (python3-openpyxl 3.0.9-1), which writes the workbook (Debian 12, unpacked and not
# installed), on Python 3.
#
# Guess: a time of 00:15 in a sheet is 00:15 in the CSV.
# Seen:  a moment is stored as a fraction of days, whose last digit is rounded, and xlsx2csv cuts it to whole seconds: of the 288 times of a
#        day at five minutes 64 are the minute before, with the format `dd.mm.yyyy hh:mm`. openpyxl reads back what it wrote.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq xlsx2csv=1:0.7.8-1 python3-openpyxl=3.0.9-1 python3-et-xmlfile python3-jdcal 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
export PYTHONPATH="$PWD/root/usr/lib/python3/dist-packages"
cat > write.py <<'PY'
from datetime import datetime, timedelta
from openpyxl import Workbook, load_workbook
list_of = Workbook()
sheet = list_of.active
times = [datetime(2026, 11, 30) + timedelta(minutes=5 * n) for n in range(288)]
for time in times:
    sheet.append([time.strftime('%H:%M'), time])
    sheet.cell(sheet.max_row, 2).number_format = 'dd.mm.yyyy hh:mm'
list_of.save('calls.xlsx')
read = [row[1].value for row in load_workbook('calls.xlsx').active.rows]
print(f'openpyxl: {sum(one != other for one, other in zip(read, times))} of {len(read)} times are others')
PY
{
  python3 write.py
  python3 root/usr/bin/xlsx2csv calls.xlsx > calls.csv
  awk -F, '{ split($2, at, " "); if (at[2] != $1) wrong++ } END { print "xlsx2csv: " wrong+0 " of " NR " times are others" }' calls.csv
  head -6 calls.csv
} | tee seen
cat > expected <<'TEXT'
openpyxl: 0 of 288 times are others
xlsx2csv: 64 of 288 times are others
00:00,30.11.2026 00:00
00:05,30.11.2026 00:05
00:10,30.11.2026 00:10
00:15,30.11.2026 00:14
00:20,30.11.2026 00:20
00:25,30.11.2026 00:25
TEXT
diff expected seen
echo 'As expected.'
