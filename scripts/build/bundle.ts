/**
 * The bundle of the executable. The licences are collected from the same list, so that none is forgotten
 * (scripts/licenses.ts).
 */
export const EXECUTABLE = {
  // Threads have separate files, with the same relative paths as their sources.
  entrypoints: [
    'src/main.ts',
    'src/mail/authentication/sender-thread.ts',
    'src/mail/content/markdown-thread.ts',
    'src/mail/dkim/signing-thread.ts',
    'src/mail/liquid/liquid-thread.ts',
    'src/mail/reading/mail-thread.ts',
    'src/sending/emails/bulk/writing-thread.ts',
  ],
  target: 'bun',
  format: 'esm',
  // Bun 1.4.5 does not heed a NODE_ENV that the running process sets: without this the libraries' development
  // branches are shipped.
  define: { 'process.env.NODE_ENV': '"production"' },
  // src/main.ts begins before the rest, which it imports, is read: 15 ms earlier. And threads share what they
  // have in common.
  splitting: true,
  // Identifiers are not minified: Elysia reads handlers' source text, and minified names have broken it.
  minify: { whitespace: true, syntax: true, identifiers: false },
  // mjml uses it only to read its own configuration files, of which there are none here.
  external: ['typescript'],
} satisfies Bun.BuildConfig;

/**
 * Takes the mjml of browsers: the one that reads files does not compile, and nothing here has files for it.
 */
const browserMjml: Bun.BunPlugin = {
  name: 'mjml',
  setup(build) {
    build.onResolve({ filter: /^mjml$/ }, () => ({ path: Bun.resolveSync('mjml-browser', import.meta.dir) }));
  },
};

/**
 * Leaves out notices that a bundle keeps although they are comments: THIRD-PARTY-LICENSES.txt has them. Bun
 * 1.4.5 stores a chunk with one letter beyond ASCII in a comment as UTF-16, which doubled the largest one to
 * 7.3 MB.
 */
const withoutNotices: Bun.BunPlugin = {
  name: 'notices',
  setup(build) {
    build.onLoad({ filter: /\/otpauth\/dist\/[^/]+\.js$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(/^\/\/!.*$/gm, ''),
      loader: 'js',
    }));
  },
};

/** The plugins of the bundle, in whatever form it is made. */
export const PLUGINS: readonly Bun.BunPlugin[] = [browserMjml, withoutNotices];
