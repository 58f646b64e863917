#!/bin/sh
# mailparser 3.14.2 and postal-mime 4.0.0 (npm) on Node: two readers of mail by one author, and a Date field that neither can read.
#
# Guess: the date of the message is missing or invalid for both, as for a message without the field.
# Seen:  mailparser says that the message was written now, and another time at each reading. postal-mime hands on the words of the field.
#        Without the field both have no date. Who sorts an archive by such dates finds its oldest mail at the top.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const message = (date) => `From: a@example.com\r\n${date}Subject: Hello\r\n\r\nHello\r\n`;
const unreadable = message('Date: Dienstag, 3. März 1998 10.52 Uhr\r\n');
const before = Date.now();
const { date } = await simpleParser(unreadable);
const isNow = date?.getTime() >= before && date.getTime() <= Date.now();
console.log(`mailparser: ${isNow ? 'now' : date}`);
console.log(`postal-mime: ${typeof (await PostalMime.parse(unreadable)).date}`);
const without = message('');
console.log(`without: ${(await simpleParser(without)).date}, ${(await PostalMime.parse(without)).date}`);
JS
node --no-warnings see.mjs | tee seen
grep -qx 'mailparser: now' seen
grep -qx 'postal-mime: string' seen
grep -qx 'without: undefined, undefined' seen
echo 'As expected.'
