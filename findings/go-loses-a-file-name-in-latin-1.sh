#!/bin/sh
# Go 1.19.8 (golang-1.19 1.19.8-2 of Debian 12, unpacked and not installed), `mime`.
#
# Guess: `mime.ParseMediaType` reads a file name by RFC 2231 in ISO-8859-1, as `mime.WordDecoder` reads such words, or tells an error.
# Seen:  a name that is not in UTF-8 or US-ASCII is no parameter at all, and there is no error: the file has no name, or the shortened one
#        that stands beside it for old programs. A Subject in ISO-8859-1 is right.
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
	"mime"
)

func main() {
	for _, field := range []string{"attachment; filename*=UTF-8''M%C3%A4rz.pdf", "attachment; filename*=ISO-8859-1''M%E4rz.pdf",
		"attachment; filename=M_rz.pdf; filename*=windows-1252''M%E4rz.pdf"} {
		_, parameters, err := mime.ParseMediaType(field)
		fmt.Println(field, parameters, err)
	}
	fmt.Println(new(mime.WordDecoder).DecodeHeader("=?ISO-8859-1?Q?M=E4rz?="))
}
GO
export GOROOT="$PWD/root/usr/lib/go-1.19" GOCACHE="$PWD/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$PWD" CGO_ENABLED=0
"$GOROOT/bin/go" build -o see see.go
./see | tee seen
cat > expected <<'TEXT'
attachment; filename*=UTF-8''M%C3%A4rz.pdf map[filename:März.pdf] <nil>
attachment; filename*=ISO-8859-1''M%E4rz.pdf map[] <nil>
attachment; filename=M_rz.pdf; filename*=windows-1252''M%E4rz.pdf map[filename:M_rz.pdf] <nil>
März <nil>
TEXT
diff expected seen
echo 'As expected.'
