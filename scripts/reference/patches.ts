import type { BunPlugin } from 'bun';

/**
 * A place of a library that cannot stay as it is in a page without inline styles and without other servers.
 */
interface Patch {
  readonly file: RegExp;
  /** Matches exactly once. */
  readonly from: RegExp;
  readonly to: string;
}

/** Takes a style sheet as CSSOM has it, which the policy allows. */
const ADOPT =
  '((css) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css); document.adoptedStyleSheets.push(sheet); })';

const PATCHES: readonly Patch[] = [
  {
    // The number of digits of line numbers would be an attribute `style`; reference.css has a rule for each
    // number.
    file: /@scalar\/code-highlight\/dist\/chunks\/code\.js$/,
    from: /node\.properties\.style = \[`--line-count: .*\];/g,
    to: 'node.properties["data-line-digits"] = numLines.toString().length;',
  },
  {
    // The theme would be an inline style element. It is in reference.css.
    file: /@scalar\/api-reference\/dist\/components\/ApiReference\.vue\.script\.js$/,
    from: /\(openBlock\(\), createBlock\(resolveDynamicComponent\("style"\), \{ innerHTML: styleContent\.value \}.*\)\),/g,
    to: '',
  },
  {
    // CodeMirror adopts its styles inside a shadow tree, and would write a style element outside of one.
    file: /\/style-mod\/src\/style-mod\.js$/,
    from: /!root\.head && root\.adoptedStyleSheets/g,
    to: 'root.adoptedStyleSheets',
  },
  {
    file: /@scalar\/use-toasts\/dist\/index\.js$/,
    from: /document\.createElement\("style"\)/g,
    to: `{ appendChild: ({ data }) => ${ADOPT}(data) }`,
  },
  {
    file: /@scalar\/use-toasts\/dist\/index\.js$/,
    from: /document\.head\.appendChild\(elementStyle\);/g,
    to: '',
  },
  {
    file: /\/vue-sonner\/lib\/vue-sonner\.js$/,
    from: /if \(!s \|\| typeof document > "u"\) return;/g,
    to: `return ${ADOPT}(s);`,
  },
  {
    // Two elements, one inside the other, measure whether scrollbars take room.
    file: /@scalar\/themes\/dist\/index\.js$/,
    from: /parent\.setAttribute\("style", /g,
    to: 'Reflect.set(parent.style, "cssText", ',
  },
  {
    file: /@scalar\/themes\/dist\/index\.js$/,
    from: /child\.setAttribute\("style", /g,
    to: 'Reflect.set(child.style, "cssText", ',
  },
  {
    // It would try whether code can be made of text, which the policy refuses and reports.
    file: /\/zod\/v4\/core\/util\.js$/,
    from: /new F\(""\);/g,
    to: 'throw new Error("refused");',
  },
  {
    // The chat with a third party's model is switched off, and so need not be bundled.
    file: /@scalar\/api-reference\/dist\/components\/ApiReference\.vue\.script\.js$/,
    from: /defineAsyncComponent\(\(\) => import\("\.\/AgentScalar\/AgentScalarDrawer\.vue\.js"\)\)/g,
    to: '"template"',
  },
];

/**
 * Changes the libraries while they are bundled. @throws when a place is not there any more, as after an
 * update
 */
export const patches: BunPlugin = {
  name: 'patches',
  setup(build) {
    const files = [...new Set(PATCHES.map(({ file }) => file.source))];
    build.onLoad({ filter: new RegExp(files.join('|')) }, async ({ path }) => {
      let contents = await Bun.file(path).text();
      for (const { file, from, to } of PATCHES) {
        if (!file.test(path)) continue;
        if (contents.match(from)?.length !== 1)
          throw new Error(`${path} is not what the patch expects: ${from}`);
        contents = contents.replace(from, () => to);
      }
      return { contents, loader: 'js' };
    });
  },
};
