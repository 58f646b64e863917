"""Reads messages with Python's own email package. The standard input has a path a line; the output has a JSON object a line."""
import datetime
import email
import email.policy
import email.utils
import hashlib
import json
import sys


def attempt(read):
    try:
        return read()
    except Exception:  # A field that the package cannot read has no value.
        return None


def text_of(part):
    found = attempt(part.get_content)
    if isinstance(found, str):
        return found
    return (part.get_payload(decode=True) or b"").decode("utf8", "replace")


def octets_of(part):
    if part.get_content_maintype() != "message":
        return part.get_payload(decode=True) or b""
    inner = part.get_payload()
    return b"".join(one.as_bytes() for one in inner) if isinstance(inner, list) else str(inner).encode("utf8", "replace")


def leaves(part):
    if part.get_content_maintype() != "multipart" or not part.is_multipart():
        return [part]
    return [leaf for one in part.get_payload() for leaf in leaves(one)]


def date_of(message):
    date = email.utils.parsedate_to_datetime(str(message["Date"]))
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.timezone.utc)
    return date.astimezone(datetime.timezone.utc).isoformat()


def addresses(message, name):
    found = attempt(lambda: [one.addr_spec for field in message.get_all(name, []) for one in field.addresses])
    return found


def facts_of(path):
    with open(path, "rb") as file:
        message = email.message_from_bytes(file.read(), policy=email.policy.default)
    text, html, files = [], [], []
    for part in leaves(message):
        kind = part.get_content_type()
        is_file = attempt(part.get_content_disposition) == "attachment"
        if not is_file and kind == "text/plain":
            text.append(text_of(part))
        elif not is_file and kind == "text/html":
            html.append(text_of(part))
        else:
            octets = attempt(lambda: octets_of(part)) or b""
            files.append({
                "name": attempt(part.get_filename),
                "type": kind,
                "sha256": hashlib.sha256(octets).hexdigest(),
            })
    return {
        "subject": attempt(lambda: message["Subject"] and str(message["Subject"])),
        "from": addresses(message, "From"),
        "to": addresses(message, "To"),
        "cc": addresses(message, "Cc"),
        "date": attempt(lambda: date_of(message)),
        "messageId": attempt(lambda: message["Message-ID"] and str(message["Message-ID"])),
        "text": "\n".join(text),
        "html": "\n".join(html),
        "files": files,
    }


for line in sys.stdin:
    print(json.dumps(attempt(lambda: facts_of(line.rstrip("\n")))), flush=True)
