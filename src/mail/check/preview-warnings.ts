import { deadPlaceholders, filterWarnings, wayOutWarning } from '../content/filter-warnings.ts';
import { htmlWarnings, type PreviewNote } from './html-warnings.ts';

interface Parts {
  readonly html: string | null;
  readonly text: string | null;
}

/** Rendered parts that are previewed. */
export interface Previewed {
  /** As they leave. */
  readonly parts: Parts;
  /** With the placeholder of the link, where every reader needs a way out; null where none is needed. */
  readonly forLists: Parts | null;
  readonly counted: { readonly opens: boolean; readonly clicks: boolean };
  /** True where the lines of the html are its author's; null where nothing is said of its tags. */
  readonly hasLines: boolean | null;
  /** The MJML that the html was made of, with its Liquid; null and absent for none. */
  readonly mjml?: string | null;
}

/** The warnings of a preview: those of its content, and those of the tags of its html, which come last. */
export interface PreviewWarnings {
  readonly ofContent: readonly PreviewNote[];
  readonly ofTags: readonly PreviewNote[];
}

/**
 * The warnings of a preview: reading 256 KiB of hostile html took a second of the thread that answers
 * requests.
 */
export function previewWarnings({
  parts,
  forLists,
  counted,
  hasLines,
  mjml = null,
}: Previewed): PreviewWarnings {
  const [dead] = deadPlaceholders(parts.html ?? '');
  const found = [forLists && wayOutWarning(forLists), dead, ...filterWarnings(parts, counted)];
  return {
    ofContent: found.flatMap((each) =>
      each ? [{ code: each.code, message: each.message, line: null }] : [],
    ),
    ofTags: parts.html === null || hasLines === null ? [] : htmlWarnings(parts.html, hasLines, mjml),
  };
}
