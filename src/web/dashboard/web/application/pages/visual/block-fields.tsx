import { useState } from 'react';
import { FONT_NAMES, FONT_TITLES, FONTS } from '../../../../../../platform/text/fonts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import type { MergeFieldGroup } from '../message-fields.ts';
import { allLooks } from './block-view.tsx';
import { ChoicePart, ColourPart, PixelsPart, TextPart } from './field-parts.tsx';
import { attributesOf } from './source/attributes.ts';
import { type Block, type Defaults, linksOf, type SectionRow } from './source/blocks.ts';
import { escapeWords, plainText } from './source/escape.ts';
import { contentOf, type SourceElement } from './source/tree.ts';

/** The changes that fields make. */
export interface FieldActs {
  readonly attribute: (id: number, name: string, value: string | null) => void;
  readonly content: (id: number, content: string) => void;
  /** False where the HTML would change what is around it. */
  readonly html: (id: number, content: string) => boolean;
  readonly heading: (level: string) => void;
  readonly addLink: () => void;
  readonly removeLink: (id: number) => void;
  readonly pickImage: () => void;
  readonly openCode: () => void;
}

/** HTML that is not whole yet, by the number of its element. */
type OpenHtml = Map<number, string>;

interface FieldsShape {
  readonly acts: FieldActs;
  readonly defaults: Defaults;
  readonly fields: readonly MergeFieldGroup[];
}

const ALIGN = { left: 'Left', center: 'Centre', right: 'Right' } as const;
const SIZES = {
  '13px': 'Small',
  '16px': 'Medium',
  '18px': 'Large',
  '22px': 'Larger',
  '28px': 'Largest',
} as const;
const STACKS: Readonly<Record<string, string>> = {
  '': 'As the message',
  ...Object.fromEntries(FONT_NAMES.map((name) => [FONTS[name], FONT_TITLES[name]])),
};
/** Earlier messages have the same fonts with quotes. */
const unquoted = (stack: string): string => {
  const plain = stack.replaceAll("'", '');
  return Object.hasOwn(STACKS, plain) ? plain : stack;
};
const WIDTHS = { '': 'As wide as its text', '100%': 'Full width' } as const;
const LEVELS = { h1: 'Heading 1', h2: 'Heading 2', h3: 'Heading 3' } as const;

/** The settings of a block. */
export function BlockFields({
  block,
  unfinished,
  ...shape
}: FieldsShape & { readonly block: Block; readonly unfinished: OpenHtml }) {
  if (block.kind === 'locked')
    return (
      <div className="col-span-full flex flex-wrap items-center gap-3">
        <p className="text-dim">The visual editor keeps this part as it is.</p>
        <Button onClick={shape.acts.openCode}>Edit in Code</Button>
      </div>
    );
  const { element } = block;
  const looks = allLooks(shape.defaults, element);
  const set = (name: string) => (value: string) =>
    shape.acts.attribute(element.id, name, value === '' ? null : value);
  const align = (
    <ChoicePart label="Alignment" value={looks.align ?? 'left'} options={ALIGN} onChange={set('align')} />
  );
  const font = (
    <ChoicePart
      label="Font"
      value={unquoted(attributesOf(element.open)['font-family'] ?? '')}
      options={STACKS}
      onChange={set('font-family')}
    />
  );
  const colour = (label: string, name: string) => (
    <ColourPart label={label} value={looks[name] ?? ''} onChange={set(name)} />
  );
  const pixels = (label: string, name: string, most: number) => (
    <PixelsPart label={label} value={looks[name] ?? ''} most={most} onChange={set(name)} />
  );
  switch (block.kind) {
    case 'heading':
    case 'text':
    case 'footer':
      return (
        <>
          {block.kind === 'heading' && (
            <ChoicePart
              label="Level"
              value={block.text.content[0]?.attrs.tag ?? ''}
              options={LEVELS}
              onChange={shape.acts.heading}
            />
          )}
          <ChoicePart
            label="Size"
            value={looks['font-size'] ?? ''}
            options={SIZES}
            onChange={set('font-size')}
          />
          {align}
          {font}
          {colour('Colour', 'color')}
        </>
      );
    case 'button':
      return (
        <>
          <TextPart
            label="Label"
            value={plainText(contentOf(element).trim())}
            fields={shape.fields}
            onChange={(text) => shape.acts.content(element.id, escapeWords(text))}
          />
          <TextPart
            label="Address"
            value={looks.href ?? ''}
            placeholder="https://"
            fields={shape.fields}
            onChange={set('href')}
          />
          {colour('Background', 'background-color')}
          {colour('Text colour', 'color')}
          {align}
          {font}
          <ChoicePart label="Width" value={looks.width ?? ''} options={WIDTHS} onChange={set('width')} />
          {pixels('Corners', 'border-radius', 60)}
        </>
      );
    case 'image':
      return (
        <>
          <div className="col-span-full">
            <Button onClick={shape.acts.pickImage}>{icons.Picture} Choose image</Button>
          </div>
          <TextPart
            label="Alternative text"
            value={looks.alt ?? ''}
            fields={shape.fields}
            hint="Describes the image where it is not shown, and for people who cannot see it. Leave it empty for decoration."
            onChange={(alt) => shape.acts.attribute(element.id, 'alt', alt)}
          />
          <TextPart
            label="Image address"
            value={looks.src ?? ''}
            fields={shape.fields}
            onChange={set('src')}
          />
          <TextPart
            label="Link"
            value={looks.href ?? ''}
            placeholder="https://"
            fields={shape.fields}
            onChange={set('href')}
          />
          {pixels('Width', 'width', 600)}
          {align}
          {pixels('Corners', 'border-radius', 60)}
        </>
      );
    case 'divider':
      return (
        <>
          {colour('Colour', 'border-color')}
          {pixels('Thickness', 'border-width', 20)}
        </>
      );
    case 'spacer':
      return pixels('Height', 'height', 200);
    case 'links':
      return <LinkFields element={element} acts={shape.acts} />;
    case 'marker':
    case 'html':
      return <RawFields key={element.id} block={block} acts={shape.acts} unfinished={unfinished} />;
  }
}

/** The settings of a section. */
export function SectionFields(props: Omit<FieldsShape, 'fields'> & { readonly row: SectionRow }) {
  const { id } = props.row;
  const looks = allLooks(props.defaults, props.row.element);
  return (
    <>
      <ColourPart
        label="Background"
        value={looks['background-color'] ?? ''}
        onChange={(value) => props.acts.attribute(id, 'background-color', value === '' ? null : value)}
      />
      <ChoicePart
        label="Space"
        value={looks.padding ?? ''}
        options={{ '0': 'None', '8px 0': 'Small', '20px 0': 'Medium', '40px 0': 'Large' }}
        onChange={(value) => props.acts.attribute(id, 'padding', value)}
      />
    </>
  );
}

function LinkFields({ element, acts }: { readonly element: SourceElement; readonly acts: FieldActs }) {
  return (
    <div className="col-span-full grid gap-2">
      {linksOf(element).map((link, index) => (
        <div key={link.id} className="flex items-end gap-2">
          <TextPart
            label={`Name of link ${index + 1}`}
            value={plainText(contentOf(link).trim())}
            onChange={(text) => acts.content(link.id, escapeWords(text))}
          />
          <TextPart
            label={`Address of link ${index + 1}`}
            value={attributesOf(link.open).href ?? ''}
            onChange={(href) => acts.attribute(link.id, 'href', href)}
          />
          <IconButton label={`Remove link ${index + 1}`} onClick={() => acts.removeLink(link.id)}>
            {icons.Close}
          </IconButton>
        </div>
      ))}
      <div>
        <Button onClick={acts.addLink}>{icons.Plus} Add link</Button>
      </div>
    </div>
  );
}

const LIST = /^(\w+)\s+in\s+([\s\S]+)$/;

function MarkerFields(props: {
  readonly block: Extract<Block, { kind: 'marker' }>;
  readonly acts: FieldActs;
}) {
  const { element, marker } = props.block;
  const list = marker.tag === 'for' ? LIST.exec(marker.words) : null;
  const [name, setName] = useState(list?.[2] ?? '');
  if (!list) return <p className="col-span-full text-dim">Edit the words of this tag in Code.</p>;
  return (
    <TextPart
      label="List"
      value={name}
      hint={`The variable with the items. Inside, {{ ${list[1]}.title }} is the title of each.`}
      onChange={(value) => {
        setName(value);
        if (/^[A-Za-z_][\w.]*$/.test(value))
          props.acts.content(element.id, `{% for ${list[1]} in ${value} %}`);
      }}
    />
  );
}

interface RawShape {
  readonly acts: FieldActs;
  readonly unfinished: OpenHtml;
}

/** HTML may be one tag of Liquid for a while as it is typed: its field stays. */
function RawFields({
  block,
  ...shape
}: RawShape & { readonly block: Extract<Block, { kind: 'marker' | 'html' }> }) {
  const [isTyping, setTyping] = useState(false);
  if (block.kind === 'marker' && !isTyping) return <MarkerFields block={block} acts={shape.acts} />;
  return <HtmlField {...shape} element={block.element} onTyping={setTyping} />;
}

function HtmlField({
  element,
  acts,
  unfinished,
  onTyping,
}: RawShape & { readonly element: SourceElement; readonly onTyping: (isTyping: boolean) => void }) {
  const content = contentOf(element);
  const [typed, setTyped] = useState(unfinished.get(element.id) ?? null);
  const change = (html: string) => {
    const isWhole = acts.html(element.id, html);
    if (isWhole) unfinished.delete(element.id);
    else unfinished.set(element.id, html);
    setTyped(isWhole ? null : html);
  };
  return (
    <label className="col-span-full grid gap-1">
      <span className="text-caption font-medium text-dim">HTML</span>
      <textarea
        rows={4}
        spellCheck={false}
        value={typed ?? content}
        onFocus={() => onTyping(true)}
        onBlur={() => onTyping(false)}
        onChange={({ target }) => change(target.value)}
        className="field font-mono text-caption"
      />
      <span role="alert" data-color="bad" className="state-text text-caption">
        {typed !== null &&
          'Not saved: this HTML would end its block or begin another one. Close its elements, comments and template tags.'}
      </span>
    </label>
  );
}
