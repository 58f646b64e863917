#!/bin/sh
# @css-inline/css-inline 0.21.2, inline-css 4.0.3 and juice 11.1.1 (npm) on Node.
#
# Guess: a tool that moves the rules of a style sheet into `style` attributes leaves the look of an email as it is: what came last, and
#        the attribute that was there, win as before.
# Seen:  a shorthand keeps the place of its first appearance. `padding:5px`, `padding-left:1px`, `padding:7px` become
#        `padding:7px;padding-left:1px` in css-inline and inline-css, with 1 pixel on the left. In inline-css a rule for `padding-left` even
#        wins over `padding` in the attribute. Only juice is right. css-inline and inline-css also drop the first of two backgrounds, the
#        colour for mail programs that know no gradient; juice keeps both.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @css-inline/css-inline@0.21.2 inline-css@4.0.3 juice@11.1.1
cat > see.mjs <<'JS'
import { inline } from '@css-inline/css-inline';
import inlineCss from 'inline-css';
import juice from 'juice';
const cases = {
  'three rules': ['td{padding:5px}td{padding-left:1px}td{padding:7px}', ''],
  attribute: ['td{padding-left:1px}', ' style="padding:9px"'],
  fallback: ['td{background:#f00;background:linear-gradient(#f00,#00f)}', ''],
};
const tools = { juice, 'css-inline': inline, 'inline-css': (html) => inlineCss(html, { url: 'https://a.example' }) };
for (const [name, [rules, own]] of Object.entries(cases))
  for (const [tool, run] of Object.entries(tools)) {
    const html = await run(`<style>${rules}</style><table><tr><td${own}>x</td></tr></table>`);
    const style = /<td[^>]* style="([^"]*)"/.exec(html)[1];
    console.log(`${name}, ${tool}: ${style.replace(/\s*([:;])\s*/g, '$1').replace(/;$/, '')}`);
  }
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
three rules, juice: padding-left:1px;padding:7px
three rules, css-inline: padding:7px;padding-left:1px
three rules, inline-css: padding:7px;padding-left:1px
attribute, juice: padding-left:1px;padding:9px
attribute, css-inline: padding-left:1px;padding:9px
attribute, inline-css: padding:9px;padding-left:1px
fallback, juice: background:#f00;background:linear-gradient(#f00,#00f)
fallback, css-inline: background:linear-gradient(#f00,#00f)
fallback, inline-css: background:linear-gradient(#f00,#00f)
TEXT
diff expected seen
echo 'As expected.'
