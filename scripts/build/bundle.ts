/**
 * The bundle of the executable. The licences are collected from the same list, so that none is forgotten
 * (scripts/licenses.ts).
 */
export const EXECUTABLE = {
  // Threads have separate files, with the same relative paths as their sources.
  entrypoints: [
    'src/main.ts',
    'src/mail/content/markdown-thread.ts',
    'src/mail/liquid/liquid-thread.ts',
    'src/mail/reading/mail-thread.ts',
    'src/sending/emails/bulk/writing-thread.ts',
  ],
  target: 'bun',
  format: 'esm',
  // src/main.ts begins before the rest, which it imports, is read: 15 ms earlier. And threads share what they have in common.
  splitting: true,
  // Identifiers are not minified: Elysia reads handlers' source text, and minified names have broken it.
  minify: { whitespace: true, syntax: true, identifiers: false },
  // mjml uses it only to read its own configuration files, of which there are none here.
  external: ['typescript'],
} satisfies Bun.BuildConfig;

/** Takes the mjml of browsers: the one that reads files does not compile, and nothing here has files for it. */
export const browserMjml: Bun.BunPlugin = {
  name: 'mjml',
  setup(build) {
    build.onResolve({ filter: /^mjml$/ }, () => ({ path: Bun.resolveSync('mjml-browser', import.meta.dir) }));
  },
};
