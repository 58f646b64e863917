#!/bin/sh
# mailparser 3.14.2 with libmime 5.6.4, and postal-mime 4.0.0 (npm) on Node.
#
# Guess: of a file name in pieces (RFC 2231 4.1), only those whose names end with an asterisk are percent-encoded. A piece without one is
#        taken as it is, by every reader: the RFC mixes both in its example.
# Seen:  mailparser decodes the percent codes of all pieces once one has an asterisk, so that a name with %20 in it changes;
#        postal-mime keeps the plain piece. Without any asterisk mailparser keeps it as well.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 libmime@5.6.4 postal-mime@4.0.0
cat > see.mjs <<'JS'
import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';
const message = (name) =>
  ['MIME-Version: 1.0', 'Content-Type: application/pdf', `Content-Disposition: attachment; ${name}`, '', 'x', ''].join('\r\n');
const named = {
  mixed: `filename*0*=utf-8''r%C3%A9sum%C3%A9-; filename*1="My%20Name.pdf"`,
  plain: 'filename*0="resume-"; filename*1="My%20Name.pdf"',
};
for (const [kind, name] of Object.entries(named)) {
  const [one] = (await simpleParser(message(name))).attachments;
  const [other] = (await PostalMime.parse(message(name))).attachments;
  console.log(`${kind}: mailparser ${JSON.stringify(one.filename)}, postal-mime ${JSON.stringify(other.filename)}`);
}
JS
node --no-warnings see.mjs | tee seen
grep -qx 'mixed: mailparser "résumé-My Name.pdf", postal-mime "résumé-My%20Name.pdf"' seen
grep -qx 'plain: mailparser "resume-My%20Name.pdf", postal-mime "resume-My%20Name.pdf"' seen
echo 'As expected.'
