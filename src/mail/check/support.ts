/** A mail program with a large share of readers. */
export type MailProgram = 'Outlook for Windows' | 'Gmail' | 'Apple Mail';

/** Something that mail programs leave out. */
export interface Unsupported {
  readonly by: readonly MailProgram[];
  /** The result for the reader, and the mend. */
  readonly mend: string;
}

const OUTLOOK = ['Outlook for Windows'] as const;
const GMAIL = ['Gmail'] as const;
const BOTH = ['Outlook for Windows', 'Gmail'] as const;

const un = (by: readonly MailProgram[], mend: string): Unsupported => ({ by, mend });
const TABLES = 'Lay it out with a table.';
const STATIC = 'Make sure that the message is complete without it.';
const DECORATION = 'It is decoration: see whether the message is good without it.';

// The facts were compared with the tests of caniemail (2026-08): what is here has no support in the newest
// version tested of the program. A package with all of that data would bring twelve others, a formatter of
// code among them, for these lines.

/** Elements that are left out, or whose content is shown alone. */
export const ELEMENTS: Readonly<Record<string, Unsupported>> = {
  audio: un(BOTH, 'Link to the sound instead.'),
  video: un(BOTH, 'Show a picture that links to the video.'),
  svg: un(BOTH, 'Show it as a PNG.'),
  object: un(BOTH, 'Link to it instead.'),
  iframe: un([...BOTH, 'Apple Mail'], 'Link to the page instead.'),
  script: un([...BOTH, 'Apple Mail'], 'No mail program runs scripts: remove it.'),
  form: un(OUTLOOK, 'Link to a page with the form.'),
  input: un(OUTLOOK, 'Link to a page with the form.'),
  select: un(OUTLOOK, 'Link to a page with the form.'),
  textarea: un(OUTLOOK, 'Link to a page with the form.'),
  dialog: un(OUTLOOK, STATIC),
  marquee: un(BOTH, STATIC),
  picture: un(BOTH, 'They show the img within it: make that one good by itself.'),
  link: un(GMAIL, 'Gmail reads no style sheet of another file: write it in a style element, or inline.'),
  meter: un(BOTH, 'Write the value as text.'),
  progress: un(BOTH, 'Write the value as text.'),
};

/** Properties that are left out; `property:value` where one value alone is. */
export const PROPERTIES: Readonly<Record<string, Unsupported>> = {
  'display:flex': un(OUTLOOK, TABLES),
  'display:inline-flex': un(OUTLOOK, TABLES),
  'display:grid': un(OUTLOOK, TABLES),
  'flex-direction': un(BOTH, TABLES),
  'flex-wrap': un(BOTH, TABLES),
  'align-items': un(BOTH, TABLES),
  'justify-content': un(BOTH, TABLES),
  'grid-template-columns': un(BOTH, TABLES),
  'grid-template-rows': un(BOTH, TABLES),
  'grid-template-areas': un(BOTH, TABLES),
  float: un(OUTLOOK, 'Use the attribute align of a table or an image.'),
  position: un(BOTH, TABLES),
  top: un(BOTH, TABLES),
  left: un(BOTH, TABLES),
  right: un(BOTH, TABLES),
  bottom: un(BOTH, TABLES),
  'z-index': un(BOTH, TABLES),
  transform: un(BOTH, DECORATION),
  transition: un(BOTH, DECORATION),
  animation: un(BOTH, 'Use an animated GIF, whose first picture says all.'),
  filter: un(BOTH, DECORATION),
  'clip-path': un(BOTH, DECORATION),
  'mask-image': un(BOTH, DECORATION),
  'background-image': un(OUTLOOK, 'Give the element a background-color on which its text can be read.'),
  'border-radius': un(OUTLOOK, 'Its corners are square there, which is mostly fine.'),
  'box-shadow': un(BOTH, DECORATION),
  'text-shadow': un(BOTH, 'Make sure that the text can be read without it.'),
  opacity: un(OUTLOOK, 'Write the colour that results.'),
  visibility: un(BOTH, 'Take it out of the message, or hide it with display:none.'),
  'max-height': un(OUTLOOK, 'Set the height of a picture by its attribute.'),
  'min-height': un(OUTLOOK, 'Set the height of a table cell by its attribute.'),
  'min-width': un(OUTLOOK, 'Set the width of a table cell by its attribute.'),
  'object-fit': un(OUTLOOK, 'Cut the picture to its size.'),
  gap: un(OUTLOOK, 'Use the padding of table cells.'),
  'writing-mode': un(OUTLOOK, STATIC),
};

/** Rules and selectors of style sheets that are left out. */
export const RULES: readonly { readonly name: string; readonly is: RegExp; readonly fact: Unsupported }[] = [
  { name: '@import', is: /@import\b/i, fact: un(GMAIL, 'Put the rules in the place of the import.') },
  {
    name: '@font-face',
    is: /@font-face\b/i,
    fact: un(GMAIL, 'Name a font that every system has behind it in font-family.'),
  },
  { name: '@keyframes', is: /@(?:-\w{1,10}-)?keyframes\b/i, fact: un(BOTH, 'Use an animated GIF.') },
  { name: '@supports', is: /@supports\b/i, fact: un(BOTH, STATIC) },
  {
    name: 'custom properties (var)',
    is: /\bvar\(\s{0,20}--/i,
    fact: un(BOTH, 'Write the value in its place.'),
  },
  { name: 'calc()', is: /\bcalc\(/i, fact: un(OUTLOOK, 'Write the length that results.') },
  {
    name: 'prefers-color-scheme',
    is: /\(\s{0,20}prefers-color-scheme/i,
    fact: un(BOTH, 'They choose dark colours by themselves: look at the message there.'),
  },
  {
    name: '::before and ::after',
    is: /::?(?:before|after)\b/i,
    fact: un(BOTH, 'Write the content in the html.'),
  },
];

/** Formats of images that are left out, by the end of their address. */
export const IMAGES: Readonly<Record<string, Unsupported>> = {
  svg: un(GMAIL, 'Show it as a PNG.'),
  webp: un(OUTLOOK, 'Show it as a PNG or a JPEG.'),
  avif: un(OUTLOOK, 'Show it as a PNG or a JPEG.'),
  tiff: un(OUTLOOK, 'Show it as a PNG or a JPEG.'),
  mp4: un(BOTH, 'Show a picture that links to the video.'),
};
/** Of an image within the address itself. */
export const EMBEDDED_IMAGE = un(GMAIL, 'Upload the image, or attach it with a contentId.');
