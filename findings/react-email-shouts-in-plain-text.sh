#!/bin/sh
# @react-email/render 2.3.1 and @react-email/components 1.0.12 (npm) on Node.
#
# Guess: the plain text of a React Email has the words of the html: a code in a heading stays as it is.
# Seen:  headings are in capitals, which no option of `render(…, { plainText: true })` says, so that a code in one is another code. And
#        two links that stand side by side are run together: the address of the first one ends with that of the second.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @react-email/render@2.3.1 @react-email/components@1.0.12 react@19.3.1 react-dom@19.3.1
cat > see.mjs <<'JS'
import { Body, Button, Heading, Html, Link, Text } from '@react-email/components';
import { render } from '@react-email/render';
import { createElement as h } from 'react';
const mail = h(Html, null, h(Body, null,
  h(Heading, null, 'Your code is xK4q'),
  h(Text, null, 'Or use xK4q here:'),
  h(Button, { href: 'https://a.example/in' }, 'Sign in'),
  h(Link, { href: 'https://a.example/help' }, 'https://a.example/help')));
console.log((await render(mail)).includes('Your code is xK4q') ? 'html: Your code is xK4q' : 'html: another');
for (const line of (await render(mail, { plainText: true })).split('\n').filter(Boolean)) console.log(`text: ${line}`);
JS
node --no-warnings see.mjs | tee seen
grep -qx 'html: Your code is xK4q' seen
grep -qx 'text: YOUR CODE IS XK4Q' seen
grep -qx 'text: Sign in https://a.example/inhttps://a.example/help' seen
echo 'As expected.'
