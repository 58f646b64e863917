#!/bin/sh
# html2text 2020.1.16 for Python (python3-html2text 2020.1.16-2 of Debian 12, unpacked and not installed) on Python 3.
#
# Guess: lines are wrapped at 78 characters between words, and a link stays whole, as a link that is cut leads nowhere.
# Seen:  a link is a word with hyphens, and is cut behind one of them: a UUID in a link to confirm an address is on two lines, in Markdown
#        and as a bare link. A link with underscores stays whole. `body_width = 0` leaves all lines as they are.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-html2text=2020.1.16-2 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
cat > see.py <<'PY'
import html2text
SHOWN = 'https://shop.example/confirm/6fa459ea-ee8a-3ca4-894e-db77e160355e?list=news-of-the-week&to=ann'
LINK = SHOWN.replace('&', '&amp;')
print(html2text.__version__)
print(html2text.html2text(f'<p><a href="{LINK}">Confirm your address</a></p><p>{LINK}</p>').strip())
print(html2text.html2text(f'<p>{LINK.replace("-", "_")}</p>').strip())
reader = html2text.HTML2Text()
reader.body_width = 0
print(reader.handle(f'<p>{LINK}</p>').strip())
PY
PYTHONPATH=root/usr/lib/python3/dist-packages python3 see.py | tee seen
cat > expected <<'TEXT'
(2020, 1, 16)
[Confirm your address](https://shop.example/confirm/6fa459ea-
ee8a-3ca4-894e-db77e160355e?list=news-of-the-week&to=ann)

https://shop.example/confirm/6fa459ea-ee8a-3ca4-894e-db77e160355e?list=news-
of-the-week&to=ann
https://shop.example/confirm/6fa459ea_ee8a_3ca4_894e_db77e160355e?list=news_of_the_week&to=ann
https://shop.example/confirm/6fa459ea-ee8a-3ca4-894e-db77e160355e?list=news-of-the-week&to=ann
TEXT
diff expected seen
echo 'As expected.'
