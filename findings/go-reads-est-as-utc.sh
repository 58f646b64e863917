#!/bin/sh
# Go 1.19.8 (golang-1.19 1.19.8-2 of Debian 12, unpacked and not installed), `net/mail`; Node for comparison.
#
# Guess: a Date field with one of the zones that RFC 5322 (4.3) names, such as EST or PDT, is read as -0500 and -0700.
# Seen:  mail.ParseDate gives no error, and the hour as if it were UTC: five and seven hours off. On a server whose own zone has that name
#        it is right. `Date` of JavaScript reads both as the RFC has them.
set -eu
cd "$(mktemp -d)"
apt-get download -qq golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.go <<'GO'
package main

import (
	"fmt"
	"net/mail"
	"os"
)

func main() {
	for _, text := range os.Args[1:] {
		at, err := mail.ParseDate(text)
		fmt.Println(os.Getenv("TZ"), at.UTC().Format("15:04"), err)
	}
}
GO
export GOROOT="$PWD/root/usr/lib/go-1.19" GOCACHE="$PWD/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$PWD" CGO_ENABLED=0
"$GOROOT/bin/go" build -o see see.go
set -- 'Mon, 30 Nov 2026 08:00:00 EST' 'Mon, 30 Nov 2026 08:00:00 PDT' 'Mon, 30 Nov 2026 08:00:00 -0500'
{
  TZ=UTC ./see "$@"
  TZ=America/New_York ./see "$@"
  node -e 'for (const text of process.argv.slice(1)) console.log("node", new Date(text).toISOString().slice(11, 16))' "$@"
} | tee seen
cat > expected <<'TEXT'
UTC 08:00 <nil>
UTC 08:00 <nil>
UTC 13:00 <nil>
America/New_York 13:00 <nil>
America/New_York 08:00 <nil>
America/New_York 13:00 <nil>
node 13:00
node 15:00
node 13:00
TEXT
diff expected seen
echo 'As expected.'
