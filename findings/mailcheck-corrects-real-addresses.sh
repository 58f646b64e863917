#!/bin/sh
# mailcheck 1.1.1 and @zootools/email-spell-checker 1.12.0 (npm) on Node.
#
# Guess: "Did you mean …?" appears for misspelt domains, and not for mail providers of millions of people, as their lists have these.
# Seen:  the lists have a few dozen domains of a few countries; each other domain that is near one of them is a mistake of it. BT's customers
#        are sent to qq.com in China, those of GMX to Cox in the United States, Libero's in Italy to live.it, and each ending of two parts
#        that is not listed loses its country (docomo.ne.jp, uol.com.br). A person who presses the suggestion gets no mail.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailcheck@1.1.1 @zootools/email-spell-checker@1.12.0
cat > see.mjs <<'JS'
import checker from '@zootools/email-spell-checker';
import mailcheck from 'mailcheck';
const PROVIDERS = 'gmail.com web.de gmx.net bt.com proton.me hey.com mailbox.org wp.pl libero.it docomo.ne.jp uol.com.br hanmail.net email.cz';
for (const domain of PROVIDERS.split(' ')) {
  const email = `ann@${domain}`;
  const told = (found) => found?.domain ?? 'right';
  console.log(`${domain}: ${told(mailcheck.run({ email }))}, ${told(checker.run({ email }))}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
gmail.com: right, right
web.de: right, right
gmx.net: right, cox.net
bt.com: qq.com, qq.com
proton.me: proton.de, right
hey.com: sky.com, right
mailbox.org: mail.org, mail.org
wp.pl: wp.nl, right
libero.it: live.it, live.it
docomo.ne.jp: docomo.net, docomo.net
uol.com.br: uol.com, uol.com
hanmail.net: hotmail.net, hotmail.net
email.cz: mail.cz, mail.cz
TEXT
diff expected seen
echo 'As expected.'
