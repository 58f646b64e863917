#!/bin/sh
# mlmmj 1.3.0-4 (Debian 12), unpacked and not installed.
#
# Guess: what a mailing list says of itself, that a message is denied or how to subscribe, is marked as automatic (`Auto-Submitted`, RFC
#        3834, or `Precedence: bulk`) and as the list's (`List-Id`), and goes to the envelope sender, so that no program answers it.
# Seen:  its fields are those of a letter by hand: no Auto-Submitted, no Precedence, no List-Id and no In-Reply-To. It goes to the address
#        in From, not to the one for bounces, with an address of the list as the author: an answering machine or a helpdesk answers it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq mlmmj=1.3.0-4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
bin=$PWD/root/usr/bin
list=$PWD/lists/talk
mkdir lists
printf 'lists.example\nowner@lists.example\n%s\n' "$PWD/root/usr/share/mlmmj/text.skel/en" |
  "$bin/mlmmj-make-ml" -s "$PWD/lists" -L talk >make.log 2>&1
cp -n root/usr/share/mlmmj/text.skel/en/* "$list/text/" 2>/dev/null || true
touch "$list/control/subonlypost"
# Without a relay that answers, what it sends stays in its queue.
echo 9 > "$list/control/smtpport"
post() {
  printf 'Return-Path: <b+1@bounces.shop.example>\nFrom: hello@shop.example\nTo: %s\nSubject: Hello\nMessage-ID: <%s@shop.example>\n\nHello.\n' \
    "$1" "$2" > post.eml
  RECIPIENT=$1 EXTENSION=$2 "$bin/mlmmj-receive" -F -L "$list" < post.eml >receive.log 2>&1
  for _ in $(seq 50); do
    found=$(find "$list/queue" -maxdepth 1 -name '*.mailfrom' | head -n 1)
    [ -z "$found" ] || break
    sleep 0.2
  done
  sleep 1
  message=${found%.mailfrom}
  echo "$3: to $(cat "$message.reciptto")"
  sed '/^\r*$/q' "$message" | tr -d '\r' | grep -iE '^(from|subject|auto-submitted|precedence|list-[a-z]*|in-reply-to|x-[a-z-]*):' | sed 's/^/  /'
  find "$list/queue" -maxdepth 1 -type f -delete
}
{
  post talk@lists.example '' 'a message of a stranger'
  post talk+help@lists.example help 'a message to the address for help'
} | tee seen
cat > expected <<'TEXT'
a message of a stranger: to hello@shop.example
  Subject: =?utf-8?q?Post_to_talk=40lists.example_denied:_Hello?=
  From: talk+owner@lists.example
a message to the address for help: to hello@shop.example
  Subject: =?utf-8?q?Information_for_talk=40lists.example?=
  From: talk+owner@lists.example
TEXT
diff expected seen
echo 'As expected.'
