import type { CertificateSource, KeyPair } from '../../../src/platform/crypto/certificate-source.ts';

/**
 * A certificate authority for tests alone and a server certificate of its making, valid for a hundred years,
 * for relay.test, localhost, receiver.test, *.receiver.test. Made once with openssl, since nothing in the
 * runtime can make one.
 */
export const AUTHORITY = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUaZkpHmQt3GAXho8rFeeJ5AIfQC0wCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXUG9zdGhvcm4gdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIwMjIx
MTE0WhgPMjEyNjEwMjcyMjExMTRaMCIxIDAeBgNVBAMMF1Bvc3Rob3JuIHRlc3Qg
YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEysFPS303vtQXhmdq
k0njM2U1D4LsMAZWZsDJsWePt81MA/JeU9TbMuu4Qcp3XuF2neD3VNLYW4Cac93G
t9Qd8qNTMFEwHQYDVR0OBBYEFBt1BO83r05ZpaMZ0/lPbc2NNhP1MB8GA1UdIwQY
MBaAFBt1BO83r05ZpaMZ0/lPbc2NNhP1MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
zj0EAwIDRwAwRAIgO6BaTX6e835td75CBTE0Gf+1daXiBplLlp1ffwmw/5ICIEui
xsalAnPV/I8C5nao7QKOWVaSK5VW4SzVBN0gjque
-----END CERTIFICATE-----`;

/** Signed by the authority. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIB/jCCAaSgAwIBAgIUcFk0CneI2BXpT/UZcWS+tj3rxIAwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXUG9zdGhvcm4gdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIwMjIx
MTE0WhgPMjEyNjEwMjcyMjExMTRaMBUxEzARBgNVBAMMCnJlbGF5LnRlc3QwWTAT
BgcqhkjOPQIBBggqhkjOPQMBBwNCAAS3iiZgUpwAGdNz8CDKQw0uNuZEzPpVfqmM
hoPtKr8ocVbiP0EMUZjbvIp5dWZ6z/dAvG484k/2ruJIFtqUv8ZGo4HCMIG/MF0G
A1UdEQRWMFSCCnJlbGF5LnRlc3SCCWxvY2FsaG9zdIIPKi5yZWNlaXZlci50ZXN0
gg1yZWNlaXZlci50ZXN0ghtzbnMuZXUtd2VzdC0xLmFtYXpvbmF3cy5jb20wCQYD
VR0TBAIwADATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUyGWMZArOdK4g
MKcz68F3cUjIn7swHwYDVR0jBBgwFoAUG3UE7zevTlmloxnT+U9tzY02E/UwCgYI
KoZIzj0EAwIDSAAwRQIhAL7w7I+4MiBK1PH28IchHZ727YOPj+m8HiSdn+iAI/cC
AiAVImxd7qw9RejD5WCQfBaTvuD2no/ETJR2q+6+iT/CJQ==
-----END CERTIFICATE-----`;

/** The key of the certificate; no secret. */
export const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSLVQ9j9AYTUnvzqz
tnrKYXDlvykH+ahhDpR8bgYNiCyhRANCAAS3iiZgUpwAGdNz8CDKQw0uNuZEzPpV
fqmMhoPtKr8ocVbiP0EMUZjbvIp5dWZ6z/dAvG484k/2ruJIFtqUv8ZG
-----END PRIVATE KEY-----`;

/** A source of that certificate, which a test may give another one. */
export class TestCertificate implements CertificateSource {
  #followers: ((pair: KeyPair) => void)[] = [];

  constructor(public current: KeyPair | null = { certificate: CERTIFICATE, key: PRIVATE_KEY }) {}

  follow(follower: (pair: KeyPair) => void): void {
    this.#followers.push(follower);
    if (this.current) follower(this.current);
  }

  give(pair: KeyPair): void {
    this.current = pair;
    for (const follower of this.#followers) follower(pair);
  }
}
