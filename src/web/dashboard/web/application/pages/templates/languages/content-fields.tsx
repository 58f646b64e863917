import { type ComponentProps, lazy, memo } from 'react';
import type { Template } from '../../../../../../client/operations.ts';
import type { EditSession } from '../../../editing/use-editing.ts';
import { useSelected } from '../../../editing/use-values.ts';
import CodeEditor, { type Language } from '../../../ui/forms/code-editor.tsx';
import type { Draft } from '../draft.ts';
import { Line } from '../settings.tsx';
import { changeIn, shownIn, type TranslationDraft } from './translation-draft.ts';

const Visual = lazy(() => import('../../visual/visual-editor.tsx'));

// The fields that differ by language. Each asks for its own text, so that a key renders neither the page nor
// another field.

interface ContentShape {
  readonly editing: EditSession<Template, Draft>;
  readonly language: string | null;
}

function useContent({ editing, language }: ContentShape, member: keyof TranslationDraft) {
  return {
    value: useSelected(editing, (draft) => shownIn(draft, language)[member]),
    onChange: (text: string) => editing.set(changeIn(editing.valuesNow(), language, { [member]: text })),
  };
}

/** The subject or the preview text. */
export function ContentLine({
  editing,
  language,
  member,
  ...line
}: ContentShape & { readonly member: 'subject' | 'previewText' } & Omit<
    ComponentProps<typeof Line>,
    'value' | 'onChange'
  >) {
  return <Line {...line} {...useContent({ editing, language }, member)} />;
}

/** The source or the text part. */
export function ContentCode({
  editing,
  language,
  member,
  syntax,
  ...editor
}: ContentShape & { readonly member: 'source' | 'text'; readonly syntax: Language } & Omit<
    ComponentProps<typeof CodeEditor>,
    'value' | 'onChange' | 'language'
  >) {
  return <CodeEditor language={syntax} {...editor} {...useContent({ editing, language }, member)} />;
}

/** The source as blocks: a message of 200 sections is not rendered for an answer of the service. */
export const ContentBlocks = memo(
  ({
    editing,
    language,
    ...visual
  }: ContentShape & Omit<ComponentProps<typeof Visual>, 'source' | 'onChange'>) => {
    const { value, onChange } = useContent({ editing, language }, 'source');
    return <Visual {...visual} source={value} onChange={onChange} />;
  },
);
