#!/bin/sh
# icalendar 2.8.0 of Ruby (Debian 12: ruby-icalendar 2.8.0-1 and ruby-ice-cube, on ruby3.1, unpacked with their libraries and not installed).
#
# Guess: an event from `Time.utc(2026, 7, 15, 10)` to a time in Berlin's summer an hour later starts at 100000Z and ends at 110000Z, a Date is
#        a whole day, and a backslash in a place is written as two.
# Seen:  the numbers of each time are written with no zone: the event lasts three hours and is at 10 o'clock wherever it is read. A Date is
#        midnight of that day in place of the day. One backslash stays one: `room\nord` is two lines when it is read again.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq ruby-icalendar=2.8.0-1 ruby-ice-cube ruby3.1 libruby3.1 libcrypt1 libffi8 libgdbm6 libgmp10 libreadline8 \
  libssl3 libtinfo6 libyaml-0-2 zlib1g 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find "$PWD/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat > see.rb <<'RB'
require 'stringio'
require 'date'
require 'icalendar'
calendar = Icalendar::Calendar.new
calendar.event do |event|
  event.dtstart = Time.utc(2026, 7, 15, 10)
  event.dtend = Time.new(2026, 7, 15, 13, 0, 0, '+02:00')
  event.location = 'room\nord'
end
calendar.event do |event|
  event.dtstart = Date.new(2026, 7, 15)
  event.dtend = Date.new(2026, 7, 16)
end
puts calendar.to_ical.lines.grep(/^(DTSTART|DTEND|LOCATION)/).map(&:chomp)
p Icalendar::Calendar.parse(calendar.to_ical).first.events.first.location.to_s
RB
gems=$(echo "$PWD"/root/usr/share/rubygems-integration/all/gems/*/lib | tr ' ' :)
usr=$PWD/root/usr/lib
LD_LIBRARY_PATH=$libraries RUBYLIB=$usr/ruby/3.1.0:$usr/x86_64-linux-gnu/ruby/3.1.0:$gems:$usr/ruby/vendor_ruby \
  root/usr/bin/ruby3.1 --disable-gems see.rb | tee seen
cat > expected <<'TEXT'
DTSTART:20260715T100000
DTEND:20260715T130000
LOCATION:room\nord
DTSTART:20260715T000000
DTEND:20260716T000000
"room\nord"
TEXT
diff expected seen
echo 'As expected.'
