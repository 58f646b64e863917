#!/bin/sh
# Go 1.19.8 (golang-1.19 1.19.8-2 of Debian 12, unpacked and not installed), `html/template`.
#
# Guess: a value in `src` or `href` is escaped, and `javascript:` taken out; links of other kinds stay.
# Seen:  http, https and mailto stay alone. A picture at `cid:logo`, as emails show attached ones, and links of `tel:`, `sms:` or `webcal:`
#        become `#ZgotmplZ`, without an error. Where the template itself has the scheme (`cid:{{.}}`), the value is right.
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
	"html/template"
	"os"
)

func main() {
	whole := template.Must(template.New("whole").Parse(`<img src="{{.}}"><a href="{{.}}">` + "\n"))
	for _, link := range []string{"https://shop.example/", "mailto:ann@home.example", "tel:030123456", "webcal://shop.example/a.ics", "cid:logo"} {
		fmt.Print(link, ": ")
		whole.Execute(os.Stdout, link)
	}
	template.Must(template.New("rest").Parse(`<img src="cid:{{.}}"><a href="tel:{{.}}">` + "\n")).Execute(os.Stdout, "030123456")
}
GO
export GOROOT="$PWD/root/usr/lib/go-1.19" GOCACHE="$PWD/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$PWD" CGO_ENABLED=0
"$GOROOT/bin/go" build -o see see.go
./see | tee seen
cat > expected <<'TEXT'
https://shop.example/: <img src="https://shop.example/"><a href="https://shop.example/">
mailto:ann@home.example: <img src="mailto:ann@home.example"><a href="mailto:ann@home.example">
tel:030123456: <img src="#ZgotmplZ"><a href="#ZgotmplZ">
webcal://shop.example/a.ics: <img src="#ZgotmplZ"><a href="#ZgotmplZ">
cid:logo: <img src="#ZgotmplZ"><a href="#ZgotmplZ">
<img src="cid:030123456"><a href="tel:030123456">
TEXT
diff expected seen
echo 'As expected.'
