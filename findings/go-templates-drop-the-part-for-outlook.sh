#!/bin/sh
# Go 1.19.8 (golang-1.19 1.19.8-2 of Debian 12, unpacked and not installed), `html/template` and `text/template`.
#
# Guess: a template of an email is written as it is but for its values: what stands in `<!--[if mso]>` is for Outlook.
# Seen:  html/template takes all comments out, and with them the conditional ones that every responsive email has: Outlook gets no table of
#        a fixed width and no button. `<!--[if !mso]><!-->` loses its two ends, so that its content stays for all. text/template keeps
#        both, and escapes no value.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.go <<'GO'
package main

import (
	html "html/template"
	"os"
	text "text/template"
)

const page = `<!--[if mso]><table width="600"><tr><td>{{.}}<![endif]--><!--[if !mso]><!--><p>{{.}}</p><!--<![endif]-->` + "\n"

func main() {
	html.Must(html.New("page").Parse("html: "+page)).Execute(os.Stdout, "a < b")
	text.Must(text.New("page").Parse("text: "+page)).Execute(os.Stdout, "a < b")
}
GO
export GOROOT="$PWD/root/usr/lib/go-1.19" GOCACHE="$PWD/cache" GOFLAGS=-mod=mod GO111MODULE=off HOME="$PWD" CGO_ENABLED=0
"$GOROOT/bin/go" build -o see see.go
./see | tee seen
cat > expected <<'TEXT'
html: <p>a &lt; b</p>
text: <!--[if mso]><table width="600"><tr><td>a < b<![endif]--><!--[if !mso]><!--><p>a < b</p><!--<![endif]-->
TEXT
diff expected seen
echo 'As expected.'
