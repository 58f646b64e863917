#!/bin/sh
# fflate 0.8.3 (npm), and node:zlib of Node, with gzip(1).
#
# Guess: octets behind a gzip file are ignored, by gunzip and by libraries: a line end that a mail program has added, or NUL octets of
#        padding. Reports about domains arrive with a line end behind them.
# Seen:  the two libraries are right about opposite cases. node:zlib ignores NULs, and refuses a line end with "incorrect header check".
#        fflate's gunzipSync ignores a line end; with NULs, it answers an empty text and no error, since it takes the last four octets
#        for the size; its streaming Gunzip refuses them. gzip(1) reads all three.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund fflate@0.8.3
cat > see.mjs <<'JS'
import { writeFileSync } from 'node:fs';
import zlib from 'node:zlib';
import { Gunzip, gunzipSync } from 'fflate';
const file = zlib.gzipSync('x'.repeat(1000));
const tried = (read) => {
  try {
    return read().length;
  } catch (error) {
    return error.message;
  }
};
const streamed = (octets) => {
  const chunks = [];
  const gunzip = new Gunzip((chunk) => chunks.push(chunk));
  gunzip.push(octets, true);
  return Buffer.concat(chunks);
};
for (const [name, tail] of Object.entries({ nothing: [], 'a line end': [13, 10], NULs: [0, 0, 0, 0] })) {
  const octets = Buffer.concat([file, Buffer.from(tail)]);
  writeFileSync(`${name.replaceAll(' ', '-')}.gz`, octets);
  const read = [() => zlib.gunzipSync(octets), () => gunzipSync(octets), () => streamed(octets)].map(tried);
  console.log(`${name}: node:zlib ${read[0]}, gunzipSync ${read[1]}, Gunzip ${read[2]}`);
}
JS
node see.mjs | tee seen
for file in nothing a-line-end NULs; do echo "gzip, $file: $(gzip -cdq "$file.gz" | wc -c)"; done | tee -a seen
grep -qx 'nothing: node:zlib 1000, gunzipSync 1000, Gunzip 1000' seen
grep -qx 'a line end: node:zlib incorrect header check, gunzipSync 1000, Gunzip 1000' seen
grep -qx 'NULs: node:zlib 1000, gunzipSync 0, Gunzip invalid gzip data' seen
grep -qx 'gzip, a-line-end: 1000' seen
grep -qx 'gzip, NULs: 1000' seen
echo 'As expected.'
