declare module 'mjml-browser' {
  interface Options {
    /** Web fonts by family; those of an empty table are never linked. */
    readonly fonts: Readonly<Record<string, string>>;
    readonly validationLevel: 'skip' | 'soft' | 'strict';
  }

  const mjml2html: (
    mjml: string,
    options: Options,
  ) => Promise<{
    readonly html: string;
    /** Empty without validation. */
    readonly errors: readonly { readonly line: number; readonly message: string; readonly tagName: string }[];
  }>;
  export default mjml2html;
}
