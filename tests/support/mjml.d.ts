declare module 'mjml' {
  const mjml2html: (
    mjml: string,
    options: { readonly fonts: Readonly<Record<string, string>>; readonly validationLevel: 'skip' },
  ) => Promise<{ readonly html: string }>;
  export default mjml2html;
}
