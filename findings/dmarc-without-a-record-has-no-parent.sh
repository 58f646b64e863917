#!/bin/sh
# mailauth 7.1.0 (npm), `dmarc()`: a tree walk (RFC 9989) in place of the public suffix list.
#
# Guess: mail from news@mail.shop.co.uk that is signed by shop.co.uk is aligned with it, with or without a DMARC record, since the
#        public suffix list makes shop.co.uk the organization of both.
# Seen:  with a record at shop.co.uk the organization is shop.co.uk, and the signature aligns. Without any record the organization
#        is mail.shop.co.uk itself, and no alignment is told at all: who authenticates senders by it loses the parent's signature.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailauth@7.1.0
node -e '
const { dmarc } = require("mailauth/lib/dmarc");
const resolver = (records) => async (name) => {
  if (records[name]) return records[name];
  throw Object.assign(new Error("none"), { code: "ENOTFOUND" });
};
const look = async (records) => {
  const { domain, alignment } = await dmarc({
    headerFrom: ["news@mail.shop.co.uk"],
    spfDomains: [],
    dkimDomains: [{ id: 1, domain: "shop.co.uk", aligned: false }],
    resolver: resolver(records),
  });
  return `${domain}, ${alignment?.dkim.result ?? "no alignment"}`;
};
(async () => {
  console.log(`record: ${await look({ "_dmarc.shop.co.uk": [["v=DMARC1; p=none"]] })}; none: ${await look({})}`);
})();
' | tee seen
grep -qx 'record: shop.co.uk, shop.co.uk; none: mail.shop.co.uk, no alignment' seen
echo 'As expected.'
