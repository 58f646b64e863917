#!/bin/sh
# Go 1.19.8 (golang-1.19 1.19.8-2 of Debian 12, unpacked and not installed), `net/mail`.
#
# Guess: `Header.AddressList` leaves an encoded name that it cannot decode as it is, as RFC 2047 6.2 advises, and reads the addresses.
# Seen:  one name in windows-1252 or ISO-8859-15, which Outlook and web mailers write, makes an error of the whole field: none of the other
#        addresses is read either, and an answer to all has no recipients. UTF-8 and ISO-8859-1 are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.go <<'GO'
package main

import (
	"fmt"
	"net/mail"
	"strings"
)

func main() {
	for _, name := range []string{"=?UTF-8?Q?J=C3=BCrgen?=", "=?ISO-8859-1?Q?J=FCrgen?=", "=?windows-1252?Q?J=FCrgen?=", "=?ISO-8859-15?Q?J=FCrgen?="} {
		message, _ := mail.ReadMessage(strings.NewReader("To: Ann <ann@home.example>, " + name + " <j@home.example>, ben@home.example\r\n\r\nHello\r\n"))
		list, err := message.Header.AddressList("To")
		fmt.Println(name, len(list), err)
	}
}
GO
export GOROOT="$PWD/root/usr/lib/go-1.19" GOCACHE="$PWD/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$PWD" CGO_ENABLED=0
sed -n 1p "$GOROOT/VERSION" > seen
"$GOROOT/bin/go" build -o see see.go
./see | tee -a seen
cat > expected <<'TEXT'
go1.19.8=?UTF-8?Q?J=C3=BCrgen?= 3 <nil>
=?ISO-8859-1?Q?J=FCrgen?= 3 <nil>
=?windows-1252?Q?J=FCrgen?= 0 mail: missing word in phrase: charset not supported: "windows-1252"
=?ISO-8859-15?Q?J=FCrgen?= 0 mail: missing word in phrase: charset not supported: "iso-8859-15"
TEXT
diff expected seen
echo 'As expected.'
