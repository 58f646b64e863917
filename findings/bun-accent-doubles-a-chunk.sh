#!/bin/sh
# bun 1.4.5 (npm), `bun build --compile`.
#
# Guess: an accented letter in a comment that the bundle keeps (`//!`, a licence notice) takes its two octets of UTF-8.
# Seen:  the whole chunk is stored with two octets a character: a script of 1 MiB makes the executable 1,048,576 octets larger. The
#        same letter in a string costs nothing, since the bundler escapes it.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund bun@1.4.5
node -e '
const fs = require("node:fs");
const body = (word) => `console.log(${JSON.stringify("x".repeat(1 << 20))}.length, ${JSON.stringify(word)});\n`;
fs.writeFileSync("plain.js", `//! Rene\n${body("Rene")}`);
fs.writeFileSync("string.js", `//! Rene\n${body("Ren\u00e9")}`);
fs.writeFileSync("notice.js", `//! Ren\u00e9\n${body("Rene")}`);
'
for name in plain string notice; do npx bun build --compile --outfile "$name.bin" "$name.js" >/dev/null; done
node -e '
const { statSync } = require("node:fs");
const [plain, string, notice] = ["plain", "string", "notice"].map((name) => statSync(`${name}.bin`).size);
console.log(`in a string: ${string - plain < 65536 ? "no larger" : "larger"}; in a notice: ${notice - plain >= 1 << 20 ? "a MiB larger" : "no larger"}`);
' | tee seen
grep -qx 'in a string: no larger; in a notice: a MiB larger' seen
echo 'As expected.'
