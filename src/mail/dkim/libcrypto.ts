import { dlopen, ptr } from 'bun:ffi';
import { existsSync } from 'node:fs';

/** A private RSA key in the memory of a library, until it is freed. */
export interface LibraryKey {
  /** The signature of a SHA-256 digest (RSASSA-PKCS1-v1_5); null where the library fails. */
  sign(digest: Buffer): Buffer | null;
  free(): void;
}

export interface SigningLibrary {
  readonly name: string;
  /** Takes a key in PKCS#1 DER; null where the library cannot read it. */
  open(der: Buffer): LibraryKey | null;
}

const SYMBOLS = {
  OPENSSL_version_major: { args: [], returns: 'u32' },
  OPENSSL_version_minor: { args: [], returns: 'u32' },
  OPENSSL_version_patch: { args: [], returns: 'u32' },
  OPENSSL_init_crypto: { args: ['u64', 'ptr'], returns: 'i32' },
  ERR_clear_error: { args: [], returns: 'void' },
  d2i_PrivateKey: { args: ['i32', 'ptr', 'ptr', 'i64'], returns: 'ptr' },
  EVP_PKEY_free: { args: ['ptr'], returns: 'void' },
  EVP_PKEY_get_size: { args: ['ptr'], returns: 'i32' },
  EVP_PKEY_CTX_new: { args: ['ptr', 'ptr'], returns: 'ptr' },
  EVP_PKEY_CTX_free: { args: ['ptr'], returns: 'void' },
  EVP_PKEY_sign_init: { args: ['ptr'], returns: 'i32' },
  EVP_PKEY_CTX_set_rsa_padding: { args: ['ptr', 'i32'], returns: 'i32' },
  EVP_PKEY_CTX_set_signature_md: { args: ['ptr', 'ptr'], returns: 'i32' },
  EVP_sha256: { args: [], returns: 'ptr' },
  EVP_PKEY_sign: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'u64'], returns: 'i32' },
} as const;

/**
 * The folders of the systems that we support. A bare name would be looked for in LD_LIBRARY_PATH and, by Bun,
 * in the working directory: a program that may write there could run code in this process.
 */
const FOLDERS: Readonly<Partial<Record<string, readonly string[]>>> = {
  x64: ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib'],
  arm64: ['/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'],
};

const open = (path: string) => dlopen(path, SYMBOLS).symbols;
type Symbols = ReturnType<typeof open>;
type Address = NonNullable<Parameters<Symbols['EVP_PKEY_sign_init']>[0]>;

// OPENSSL_INIT_NO_LOAD_CONFIG: the configuration of the machine may load engines. OPENSSL_INIT_NO_ATEXIT:
// cleaning up at the end of the process would take the memory from threads that still sign.
const NO_CONFIG_NO_CLEANUP = 0x80n | 0x80000n;
const EVP_PKEY_RSA = 6;
const RSA_PKCS1_PADDING = 1;

/**
 * 3.0.4 corrupts memory where it signs with AVX-512 (CVE-2022-2274). Another major version has another
 * interface.
 */
export const isSound = (major: number, minor: number, patch: number): boolean =>
  major === 3 && !(minor === 0 && patch === 4);

/** The file of the library, among those of the system; null where it has none. */
export function libraryPath(exists: (path: string) => boolean = existsSync): string | null {
  const paths = (FOLDERS[process.arch] ?? []).map((folder) => `${folder}/libcrypto.so.3`);
  return paths.find(exists) ?? null;
}

/** The OpenSSL of this machine; null where it has none that can be used. */
export function openLibcrypto(): SigningLibrary | null {
  if (process.platform !== 'linux') return null;
  try {
    const path = libraryPath();
    if (path === null) return null;
    const library = open(path);
    const version = [
      library.OPENSSL_version_major(),
      library.OPENSSL_version_minor(),
      library.OPENSSL_version_patch(),
    ] as const;
    if (!isSound(...version) || library.OPENSSL_init_crypto(NO_CONFIG_NO_CLEANUP, null) !== 1) return null;
    return { name: `OpenSSL ${version.join('.')}`, open: (der) => openKey(library, der) };
  } catch {
    // It is missing, or lacks a function.
    return null;
  }
}

function openKey(library: Symbols, der: Buffer): LibraryKey | null {
  const key = library.d2i_PrivateKey(
    EVP_PKEY_RSA,
    null,
    new BigUint64Array([BigInt(ptr(der))]),
    BigInt(der.length),
  );
  const context = key === null ? null : library.EVP_PKEY_CTX_new(key, null);
  const free = (): void => {
    if (context !== null) library.EVP_PKEY_CTX_free(context);
    if (key !== null) library.EVP_PKEY_free(key);
  };
  if (key === null || context === null || !isReady(library, context)) {
    free();
    library.ERR_clear_error();
    return null;
  }
  const octets = library.EVP_PKEY_get_size(key);
  const length = new BigUint64Array(1);
  return {
    sign(digest) {
      const signature = Buffer.alloc(octets);
      length[0] = BigInt(octets);
      const done = library.EVP_PKEY_sign(context, signature, length, digest, BigInt(digest.length));
      if (done === 1 && length[0] === BigInt(octets)) return signature;
      library.ERR_clear_error();
      return null;
    },
    free,
  };
}

const isReady = (library: Symbols, context: Address): boolean =>
  library.EVP_PKEY_sign_init(context) === 1 &&
  library.EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) === 1 &&
  library.EVP_PKEY_CTX_set_signature_md(context, library.EVP_sha256()) === 1;
