import { useMemo, useState } from 'react';
import type { Template } from '../../../../../client/operations.ts';
import { previewPace } from '../../api/preview-pace.ts';
import { useRendered, useSettled } from '../../api/queries.ts';
import { RequestError } from '../../api/requests.ts';
import { useSettledValues, type ValueStore } from '../../editing/use-values.ts';
import { count, sizeText } from '../../ui/display/format.ts';
import { PreviewFrame } from '../../ui/display/preview-frame.tsx';
import { Skeleton } from '../../ui/display/states.tsx';
import { Chips, Toggle } from '../../ui/forms/chips.tsx';
import { contentOf, type Draft, declaredIn, valuesOf } from './draft.ts';
import { translationsIn } from './languages/translation-draft.ts';

/** The pause after the last key in the value of a variable. */
const SETTLE_MS = 150;
const VIEWS = { html: 'Message', text: 'Text' } as const;

/**
 * The rendered template, from the service that sends it. While the source cannot be rendered, the last result
 * stays.
 */
export function usePreview(
  editing: ValueStore<Draft>,
  { kind, format }: Pick<Template, 'kind' | 'format'>,
  typed: Readonly<Record<string, string>>,
  language: string | null,
) {
  const draft = useSettledValues(editing, previewPace.changed);
  const entered = useSettled(typed, SETTLE_MS);
  const body = useMemo(
    () =>
      JSON.stringify({
        kind,
        format,
        ...contentOf(draft, format),
        ownLanguage: draft.language.trim() === '' ? null : draft.language.trim(),
        ...(language !== null && { language, translations: shownTranslation(draft, format, language) }),
        declared: declaredIn(draft),
        variables: valuesOf(draft, entered),
      }),
    [draft, kind, format, language, entered],
  );
  const { data, error, isFetching } = useRendered(body);
  return {
    data,
    error,
    isBusy: isFetching,
    problems: error instanceof RequestError ? error.details : NO_PROBLEMS,
  };
}

const NO_PROBLEMS: RequestError['details'] = [];

/** Only the translation that is shown: a preview must not compile the others. */
function shownTranslation(draft: Draft, format: Template['format'], language: string) {
  const { [language]: shown } = translationsIn(draft, format);
  return shown ? { [language]: shown } : {};
}

/** The rendered message: subject, preview text, the HTML in a frame, and warnings. */
export function Preview({ answer }: { readonly answer: Omit<ReturnType<typeof usePreview>, 'problems'> }) {
  const { data, error, isBusy } = answer;
  const [view, setView] = useState<keyof typeof VIEWS>('html');
  const [isPhone, setPhone] = useState(false);
  const [isDark, setDark] = useState(false);
  const isHtml = view === 'html' && data?.html !== null;
  return (
    <section aria-label="Preview" className="card overflow-hidden">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-edge px-3 py-2">
        <Chips label="Show" options={VIEWS} value={view} onChange={setView} />
        <span className="ml-auto flex gap-1">
          <Toggle text="Phone" isOn={isPhone} onChange={setPhone} />
          <Toggle text="Dark" isOn={isDark} onChange={setDark} />
        </span>
      </div>
      {data ? (
        <>
          <div className="border-b border-edge px-4 py-3">
            <p dir="auto" className="font-medium break-words">
              {data.subject ?? <span className="text-faint">(no subject)</span>}
            </p>
            {data.previewText !== null && (
              <p dir="auto" className="text-caption break-words text-dim">
                {data.previewText}
              </p>
            )}
          </div>
          {isHtml ? (
            <PreviewFrame title="Message" html={data.html ?? ''} isPhone={isPhone} isDark={isDark} />
          ) : (
            <pre
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls has to be reached by the keyboard
              tabIndex={0}
              className="h-136 overflow-y-auto p-4 font-sans break-words whitespace-pre-wrap"
            >
              {data.text ?? 'There is no text part.'}
            </pre>
          )}
          <div role="status" className="grid gap-1 border-t border-edge px-4 py-2 text-caption text-dim">
            <span aria-busy={isBusy}>
              {error
                ? 'The source cannot be rendered. This is the last preview that worked.'
                : `${sizeText(data.sizeBytes)} when sent.`}
              {data.warnings.length > 0 &&
                ` ${data.warnings.length === 1 ? 'One warning' : `${count(data.warnings.length)} warnings`}:`}
            </span>
            {data.warnings.map(({ code, line, column, message }) => (
              <span
                key={`${code} ${line} ${column} ${message}`}
                data-color="waiting"
                className="flex items-baseline gap-2"
              >
                <span aria-hidden="true" className="size-1.5 shrink-0 rounded-full bg-(--state)" />
                <span className="min-w-0 break-words">
                  {message}
                  {line !== null &&
                    (code === 'mjml'
                      ? ` (line ${line}${column === null ? '' : `, column ${column}`})`
                      : ` (line ${line} of the result)`)}
                </span>
              </span>
            ))}
          </div>
        </>
      ) : (
        <div className="p-4">
          {error ? <p className="text-dim">Nothing to preview yet.</p> : <Skeleton className="h-96 w-full" />}
        </div>
      )}
    </section>
  );
}
