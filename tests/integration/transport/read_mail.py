"""Reads messages with Python's own email package and checks their DKIM signatures with dkimpy.

argv[1] is a JSON file {"files": [...], "keys": {name: txt}}; prints one JSON object per message.
"""
import email
import email.policy
import hashlib
import json
import sys

import dkim

with open(sys.argv[1], encoding="utf8") as f:
    asked = json.load(f)


def published(name, timeout=5):
    value = asked["keys"].get(name.decode().rstrip("."))
    return None if value is None else value.encode()


for path in asked["files"]:
    with open(path, "rb") as f:
        raw = f.read().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    message = email.message_from_bytes(raw, policy=email.policy.default)
    text = message.get_body(("plain",))
    html = message.get_body(("html",))
    checker = dkim.DKIM(raw)
    count = len(message.get_all("DKIM-Signature", []))
    files = [
        part
        for part in message.walk()
        if not part.is_multipart() and part.get_filename() is not None
    ]
    print(json.dumps({
        "messageId": message["Message-ID"],
        "subject": message["Subject"],
        "text": None if text is None else text.get_content(),
        "html": None if html is None else html.get_content(),
        "attachments": [
            [part.get_filename(), hashlib.sha256(part.get_payload(decode=True)).hexdigest()]
            for part in files
        ],
        "signatures": [checker.verify(idx=i, dnsfunc=published) for i in range(count)],
        "defects": [repr(d) for part in message.walk() for d in part.defects],
    }))
