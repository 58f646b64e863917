#!/bin/sh
# email-comb 7.4.4 (npm) on Node.
#
# Guess: `comb` removes what no class uses from a template, and leaves `{{ … }}` and `{% … %}` in a class as they are.
# Seen:  the name between the braces is taken for a class without a rule and removed: `{{ }}` and `{% %}` stay, which no engine of
#        templates reads. `.ExternalClass`, which Outlook.com puts around each message, is removed with the rest.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund email-comb@7.4.4
cat > see.mjs <<'JS'
import { comb } from 'email-comb';
const { result } = comb('<html><head><style>.ExternalClass { width: 100% } .a { color: red } .dark { color: white }</style></head><body>'
  + '<p class="a {{ theme }}">Hello</p><p class="a {% if night %}dark{% endif %}">Ann</p></body></html>');
console.log(result.replace(/></g, '>\n<'));
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
<html>
<head>
<style> .a { color: red } .dark { color: white }</style>
</head>
<body>
<p class="a {{ }}">Hello</p>
<p class="a {}dark{}">Ann</p>
</body>
</html>
TEXT
diff expected seen
echo 'As expected.'
