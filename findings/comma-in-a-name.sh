#!/bin/sh
# nodemailer 10.6.0, mailparser 3.14.2 and postal-mime 4.0.0 (npm) on Node: three libraries of one author.
#
# Guess: a From field of `Acme, Inc. <office@acme.example>`, without the quotation marks that RFC 5322 3.2.4 wants, is two mailboxes
#        for each of them: one without an address, and one whose name is "Inc.".
# Seen:  nodemailer and mailparser read one mailbox with the whole name. postal-mime reads two, and of From it keeps the first one: such
#        a message has a sender without an address.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nodemailer@10.6.0 mailparser@3.14.2 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { simpleParser } from 'mailparser';
import addressparser from 'nodemailer/lib/addressparser/index.js';
import PostalMime from 'postal-mime';
const field = 'Acme, Inc. <office@acme.example>';
const message = `From: ${field}\r\nTo: ${field}\r\n\r\n`;
const shown = (mailboxes) => mailboxes.map(({ name, address }) => `${name} <${address}>`).join(' and ');
console.log(`nodemailer: ${shown(addressparser(field))}`);
console.log(`mailparser: ${shown((await simpleParser(message)).from.value)}`);
const { from, to } = await PostalMime.parse(message);
console.log(`postal-mime, From: ${shown([from])}`);
console.log(`postal-mime, To: ${shown(to)}`);
JS
node --no-warnings see.mjs | tee seen
grep -qx 'nodemailer: Acme, Inc. <office@acme.example>' seen
grep -qx 'mailparser: Acme, Inc. <office@acme.example>' seen
grep -qx 'postal-mime, From: Acme <>' seen
grep -qx 'postal-mime, To: Acme <> and Inc. <office@acme.example>' seen
echo 'As expected.'
