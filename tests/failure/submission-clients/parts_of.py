"""Reads a message from its standard input with Python's own email package, and prints its leaves as JSON."""
import email
import email.policy
import hashlib
import json
import sys

message = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)


def leaf(part, within):
    octets = part.get_payload(decode=True) or b""
    return {
        "type": part.get_content_type(),
        "within": within,
        "method": part.get_param("method"),
        "filename": part.get_filename(),
        "sha256": hashlib.sha256(octets).hexdigest(),
        "begins": octets[:2000].decode("latin1"),
    }


def leaves(part, within):
    if part.is_multipart():
        return [one for inner in part.iter_parts() for one in leaves(inner, part.get_content_type())]
    return [leaf(part, within)]


print(json.dumps({
    "type": message.get_content_type(),
    "messageId": message["Message-ID"],
    "inReplyTo": message["In-Reply-To"],
    "references": message["References"],
    "leaves": leaves(message, None),
}))
