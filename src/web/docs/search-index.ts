import { CODE_NAMES } from './codes.ts';
import { GUIDES } from './guides.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { PAGE_GROUPS } from './pages/pages.ts';
import { endpointsOf } from './pages/reference-page.ts';

/** A search result of the documentation. */
export interface Place {
  readonly href: string;
  readonly label: string;
  /** The page of the entry. */
  readonly page: string;
}

/** Every page, error code and request. */
export function searchIndex(document: OpenApiDocument): readonly Place[] {
  const titles = new Map<string, string>(GUIDES.map(({ path, title }) => [path, title]));
  return [
    ...PAGE_GROUPS.flatMap(({ title, pages }) =>
      pages.map(({ path, label }) => ({ href: path, label: titles.get(path) ?? label, page: title })),
    ),
    ...CODE_NAMES.map((code) => ({ href: `/docs/errors#${code}`, label: code, page: 'Errors' })),
    ...endpointsOf(document).map(({ method, path, summary, operationId, tag }) => ({
      href: `/docs#tag/${anchorOf(tag)}/${operationId}`,
      label: summary,
      page: `${method} ${path}`,
    })),
  ];
}

/**
 * The part of a group in the addresses of the reference (src/web/dashboard/web/reference/main.ts makes the
 * same one).
 */
const anchorOf = (tag: string): string => tag.toLowerCase().replace(/[^a-z0-9]+/g, '-');
