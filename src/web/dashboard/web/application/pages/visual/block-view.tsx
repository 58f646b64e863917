import { type CSSProperties, memo, type ReactNode } from 'react';
import { chipText } from './chip-text.ts';
import { attributesOf } from './source/attributes.ts';
import { type Block, type Defaults, linksOf } from './source/blocks.ts';
import { looksOf } from './source/edit.ts';
import { plainText } from './source/escape.ts';
import { piecesOf, type SourcePiece } from './source/liquid.ts';
import type { RichBlock, RichInline, RichText } from './source/rich-text.ts';
import { contentOf, type SourceElement } from './source/tree.ts';

/** MJML's own values. */
const USUAL: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'mj-text': { padding: '10px 25px', 'font-size': '13px', 'line-height': '1', color: '#000000' },
  'mj-button': {
    padding: '10px 25px',
    'inner-padding': '10px 25px',
    'font-size': '13px',
    color: '#ffffff',
    'background-color': '#414141',
    'border-radius': '3px',
    align: 'center',
  },
  'mj-image': { padding: '10px 25px', align: 'center' },
  'mj-divider': { padding: '10px 25px', 'border-width': '4px', 'border-color': '#000000', width: '100%' },
  'mj-spacer': { height: '20px' },
  'mj-navbar': { align: 'center' },
  'mj-social': { padding: '10px 25px', align: 'center' },
  'mj-section': { padding: '20px 0' },
};
const FONT = 'Ubuntu, Helvetica, Arial, sans-serif';

/** The values of an element as MJML takes them. */
export const allLooks = (defaults: Defaults, element: SourceElement): Readonly<Record<string, string>> => ({
  ...(Object.hasOwn(USUAL, element.name) && USUAL[element.name]),
  ...looksOf(defaults, element),
});

/** The attributes that an element has in common with CSS; `align` is `text-align` there. */
const IN_CSS = [
  'padding',
  'padding-top',
  'padding-bottom',
  'padding-left',
  'padding-right',
  'color',
  'font-size',
  'font-weight',
  'font-style',
  'line-height',
  'align',
  'letter-spacing',
  'text-transform',
  'text-decoration',
].map(
  (name) =>
    [
      name,
      name === 'align' ? 'textAlign' : name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()),
    ] as const,
);

/** The CSS of the attributes that an element has in common with CSS. */
export function styleOf(looks: Readonly<Record<string, string>>): CSSProperties {
  return {
    fontFamily: looks['font-family'] ?? FONT,
    ...Object.fromEntries(
      IN_CSS.flatMap(([name, css]) => (looks[name] === undefined ? [] : [[css, looks[name]]])),
    ),
    ...(looks['container-background-color'] !== undefined && {
      backgroundColor: looks['container-background-color'],
    }),
  };
}

const SIDES: ReadonlyMap<string, string> = new Map([
  ['left', 'flex-start'],
  ['right', 'flex-end'],
]);

/**
 * A block as it looks in the message, without its frame. `text`: the editor of its text, where it is edited.
 */
export const BlockView = memo(function BlockView(props: {
  readonly block: Block;
  readonly defaults: Defaults;
  readonly text?: ReactNode;
}) {
  const { block, defaults } = props;
  if (block.kind === 'locked') return <Locked source={block.source} />;
  const { element } = block;
  const looks = allLooks(defaults, element);
  const style = styleOf(looks);
  if ('text' in block)
    return (
      <div style={style} className="visual-text">
        {props.text ?? <RichView text={block.text} />}
      </div>
    );
  const side: CSSProperties = {
    ...style,
    display: 'flex',
    justifyContent: SIDES.get(looks.align ?? '') ?? 'center',
  };
  switch (block.kind) {
    case 'button':
      return (
        <div style={{ ...side, color: undefined }}>
          <span
            style={{
              padding: looks['inner-padding'],
              borderRadius: looks['border-radius'],
              backgroundColor: looks['background-color'],
              color: looks.color,
              lineHeight: '1.2',
              width: looks.width,
              maxWidth: '100%',
              textAlign: 'center',
            }}
          >
            <Pieces text={contentOf(element).trim()} />
          </span>
        </div>
      );
    case 'image':
      return (
        <div style={side}>
          <ImageView looks={looks} />
        </div>
      );
    case 'divider':
      return (
        <div style={side}>
          <span
            style={{
              width: looks.width,
              borderTopWidth: looks['border-width'],
              borderTopStyle: 'solid',
              borderTopColor: looks['border-color'],
            }}
          />
        </div>
      );
    case 'spacer':
      return <div style={{ ...style, height: looks.height }} />;
    case 'links':
      return (
        <div style={{ ...side, flexWrap: 'wrap' }}>
          {linksOf(element).map((link) => {
            const { 'font-size': fontSize = '13px', color = '#000000', name } = looksOf(defaults, link);
            return (
              <span key={link.id} style={{ fontSize, color, padding: '8px 10px' }}>
                {contentOf(link).trim() || name}
              </span>
            );
          })}
        </div>
      );
    case 'marker':
      return null;
    case 'html':
      return <Locked source={contentOf(element).trim()} isOwn />;
  }
});

/**
 * An image of this service. The policy of the page shows no others, so that no server learns of the author.
 */
function ImageView({ looks }: { readonly looks: Readonly<Record<string, string>> }) {
  const { src = '', alt = '', width } = looks;
  const path = /\/images\/[0-9a-f]{64}\.\w+$/.exec(src)?.[0];
  const style: CSSProperties = {
    width: width ?? '100%',
    maxWidth: '100%',
    borderRadius: looks['border-radius'],
  };
  if (path) return <img src={path} alt="" style={style} />;
  return (
    <span
      style={style}
      className="grid min-h-24 place-items-center rounded-md border border-dashed border-[#a1a1aa] bg-[#f4f4f5] p-3 text-center text-caption break-words text-[#52525b]"
    >
      {piecesOf(src).some(({ isLiquid }) => isLiquid)
        ? `Image from ${piecesOf(src)
            .map(({ text, isLiquid }) => (isLiquid ? chipText(text) : text))
            .join('')}`
        : alt || src || 'No image yet'}
    </span>
  );
}

/** The place in a layout that the content of its templates takes. */
const CONTENT = /^\s*\{\{-?\s*content\s*-?\}\}\s*$/;

/** Source that stays as it is. */
const Locked = ({ source, isOwn = false }: { readonly source: string; readonly isOwn?: boolean }) => (
  <div className="grid gap-1 border border-dashed border-[#a1a1aa] bg-[#f4f4f5] px-4 py-3 text-[#3f3f46]">
    <span className="text-caption font-medium">
      {isOwn
        ? 'HTML'
        : CONTENT.test(source)
          ? 'The content of each template is placed here.'
          : 'The visual editor cannot show this part. It stays as it is.'}
    </span>
    <code className="line-clamp-4 font-mono text-caption break-words whitespace-pre-wrap text-[#52525b]">
      {source}
    </code>
  </div>
);

/** Words with template tags as chips. */
const Pieces = ({ text }: { readonly text: string }) => piecesOf(text).map(pieceView);

const pieceView = ({ text, isLiquid }: SourcePiece, index: number): ReactNode =>
  isLiquid ? (
    <span key={index} className="visual-chip" title={text}>
      {chipText(text)}
    </span>
  ) : (
    plainText(text)
  );

/** A rich text as it is shown while it is not edited. */
const RichView = ({ text }: { readonly text: RichText }) => text.content.map(richBlock);

function richBlock({ type, attrs, content = [] }: RichBlock, index: number): ReactNode {
  const Tag = (attrs.tag || 'p') as 'p';
  const { style } = attributesOf(`<p${attrs.attributes}>`);
  const isInline = type === 'paragraph' || type === 'heading';
  return (
    <Tag
      key={index}
      ref={(element) => {
        if (element) element.style.cssText = style ?? '';
      }}
      {...(attrs.tag === '' && { className: 'visual-bare' })}
    >
      {isInline
        ? (content as readonly RichInline[]).map(richInline)
        : (content as readonly RichBlock[]).map(richBlock)}
      {content.length === 0 && <br />}
    </Tag>
  );
}

function richInline({ type, text, attrs, marks = [] }: RichInline, index: number): ReactNode {
  const inner: ReactNode =
    type === 'break' ? (
      <br />
    ) : type === 'liquid' ? (
      <span className="visual-chip" title={attrs?.source ?? ''}>
        {chipText(attrs?.source ?? '')}
      </span>
    ) : (
      text
    );
  const marked = marks.toReversed().reduce<ReactNode>((within, mark) => {
    // A link here would lead away from what is edited.
    const Tag = (mark.type === 'link' ? 'span' : mark.attrs.tag) as 'span';
    const { style } = attributesOf(`<p${mark.attrs.attributes}>`);
    return (
      <Tag
        key={mark.type}
        className={mark.type === 'link' ? 'visual-link' : ''}
        ref={(element) => {
          if (element) element.style.cssText = style ?? '';
        }}
      >
        {within}
      </Tag>
    );
  }, inner);
  return <span key={index}>{marked}</span>;
}
