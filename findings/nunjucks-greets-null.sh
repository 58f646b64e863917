#!/bin/sh
# nunjucks 3.2.4 (npm) on Node; Jinja2 3.1.2 (Debian 12: python3-jinja2 3.1.2-1+deb12u3, unpacked and not installed) on Python.
#
# Guess: a template of Jinja says the same in nunjucks, which is a port of it: `~` joins a missing name as nothing, and an empty list is
#        false.
# Seen:  a name that is null is joined as the word "null", and a missing one as "undefined"; by itself each is nothing. An empty list and
#        an empty object are true, so that "Your items:" stands above nothing, and "5" * 3 is 15. Jinja2 has nothing for the missing name,
#        false for both, and 555.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund nunjucks@3.2.4
apt-get download -qq python3-jinja2 python3-markupsafe python3.11-minimal=3.11.2-6+deb12u9 libpython3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > templates <<'TEXT'
Hello {{ name }}{{ missing }}
{{ "Hello " ~ name }}
{{ "Hello " ~ missing }}
{% if items %}Your items:{% else %}No items{% endif %}
{% if address %}To:{% else %}No address{% endif %}
{{ "5" * 3 }}
TEXT
cat > see.cjs <<'JS'
const { readFileSync } = require('node:fs');
const nunjucks = require('nunjucks');
const data = { name: null, items: [], address: {} };
for (const line of readFileSync('templates', 'utf8').trim().split('\n')) {
  console.log(`nunjucks ${line} => ${nunjucks.renderString(line, data)}`);
}
JS
cat > see.py <<'PY'
import jinja2
data = {'name': None, 'items': [], 'address': {}}
for line in open('templates').read().strip().split('\n'):
    print(f'Jinja2 {line} => {jinja2.Template(line).render(data)}')
PY
{
  node --no-warnings see.cjs
  PYTHONHOME=$PWD/root/usr PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages root/usr/bin/python3.11 see.py
} | tee seen
cat > expected <<'TEXT'
nunjucks Hello {{ name }}{{ missing }} => Hello 
nunjucks {{ "Hello " ~ name }} => Hello null
nunjucks {{ "Hello " ~ missing }} => Hello undefined
nunjucks {% if items %}Your items:{% else %}No items{% endif %} => Your items:
nunjucks {% if address %}To:{% else %}No address{% endif %} => To:
nunjucks {{ "5" * 3 }} => 15
Jinja2 Hello {{ name }}{{ missing }} => Hello None
Jinja2 {{ "Hello " ~ name }} => Hello None
Jinja2 {{ "Hello " ~ missing }} => Hello 
Jinja2 {% if items %}Your items:{% else %}No items{% endif %} => No items
Jinja2 {% if address %}To:{% else %}No address{% endif %} => No address
Jinja2 {{ "5" * 3 }} => 555
TEXT
diff expected seen
echo 'As expected.'
