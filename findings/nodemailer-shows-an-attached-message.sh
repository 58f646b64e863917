#!/bin/sh
# nodemailer 10.6.0, mailparser 3.9.31 and postal-mime 4.0.0 (npm) on Node.
#
# Guess: a file complaint.eml among `attachments` is an attachment with that name, as a PDF is.
# Seen:  its type becomes message/rfc822 by its name, and such a part is `inline`. Two readers make it a part of the text: the recipient reads
#        one message of both, and has no file. With `contentDisposition: 'attachment'` it is a file with its name.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nodemailer@10.6.0 mailparser@3.9.31 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { simpleParser } from 'mailparser';
import nodemailer from 'nodemailer';
import PostalMime from 'postal-mime';
const transport = nodemailer.createTransport({ streamTransport: true, buffer: true });
const content = 'From: ben@home.example\r\nSubject: Complaint\r\n\r\nI want my money back.\r\n';
for (const [name, file] of Object.entries({
  'a pdf': { filename: 'invoice.pdf', content: '%PDF-' },
  'a message': { filename: 'complaint.eml', content },
  'as an attachment': { filename: 'complaint.eml', content, contentDisposition: 'attachment' },
})) {
  const { message } = await transport.sendMail({ from: 'a@shop.example', to: 'b@shop.example', text: 'See below.', attachments: [file] });
  console.log(`${name}: ${/^Content-Disposition: .*$/m.exec(String(message))[0]}`);
  for (const { text, attachments } of [await simpleParser(message), await PostalMime.parse(message)])
    console.log(`  text ${JSON.stringify(text)}, files ${JSON.stringify(attachments.map(({ filename }) => filename))}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
a pdf: Content-Disposition: attachment; filename=invoice.pdf
  text "See below.", files ["invoice.pdf"]
  text "See below.\n", files ["invoice.pdf"]
a message: Content-Disposition: inline; filename=complaint.eml
  text "See below.\n\nFrom: ben@home.example\nSubject: Complaint\n\nI want my money back.\n", files []
  text "See below.\n\n\n-------------------------\nFrom:    ben@home.example\nSubject: Complaint\n-------------------------\n\nI want my money back.\n\n", files []
as an attachment: Content-Disposition: attachment; filename=complaint.eml
  text "See below.", files ["complaint.eml"]
  text "See below.\n", files ["complaint.eml"]
TEXT
diff expected seen
echo 'As expected.'
