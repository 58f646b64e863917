import { LruMap } from '../../platform/async/lru-map.ts';
import type { Database } from '../../platform/db/database.ts';
import { isId } from '../../platform/db/ids.ts';
import { ALIAS } from './model.ts';
import type { StoredContent } from './render/content.ts';
import { type Owner, readVersion, type TemplateRow, templateFinder, type VersionRow } from './store.ts';

/** A template and one of its versions. */
export interface FoundVersion {
  readonly row: TemplateRow;
  readonly version: number;
  readonly content: StoredContent;
}

/** Finds templates and what their versions say. */
export interface Versions {
  /**
   * A template of this owner by id or alias; null when there is none. It is as it is now: nothing of it is
   * remembered.
   */
  find(owner: Owner, name: string): Promise<TemplateRow | null>;
  /**
   * The content of a version, by default of the one that is sent; null when there is none. Versions never
   * change, so they are cached.
   */
  read(row: TemplateRow, version?: number): Promise<FoundVersion | null>;
}

/** Contents that are kept: this many, and of this many characters together. */
const MOST_KEPT = 1_000;
const MOST_CHARACTERS = 33_554_432;

interface KeptVersion {
  readonly found: Promise<VersionRow | null>;
  /** 0 while it is being read. */
  readonly characters: number;
}

/** A reader of templates with a bounded memory of their versions. */
export function versionsOf(database: Database): Versions {
  const finder = templateFinder(database);
  const kept = new LruMap<string, KeptVersion>({
    entries: MOST_KEPT,
    weight: MOST_CHARACTERS,
    weightOf: ({ characters }) => characters,
  });

  const count = (key: string, found: Promise<VersionRow | null>, row: VersionRow | null): void => {
    // A version that is not there now may be there later.
    if (row === null) kept.delete(key);
    else if (kept.has(key)) kept.set(key, { found, characters: lengthOf(row.content) });
  };

  const contentOf = (id: string, version: number): Promise<VersionRow | null> => {
    const key = `${id} ${version}`;
    const entry = kept.get(key);
    if (entry) return entry.found;
    const found = readVersion(database, id, version);
    kept.set(key, { found, characters: 0 });
    found.then(
      (row) => count(key, found, row),
      () => kept.delete(key),
    );
    return found;
  };

  return {
    find: async ({ workspaceId, livemode }, name) =>
      isId('tpl', name) || ALIAS.test(name) ? finder.ask({ workspaceId, livemode, name }) : null,
    async read(row, version = row.version) {
      if (version > row.latest) return null;
      const found = await contentOf(row.id, version);
      return found && { row, version, content: found.content };
    },
  };
}

/** The memory of a stretch, in characters. */
const STRETCH = 60;

/** The characters of a content, its layers included; a stretch weighs as much as a short line. */
export const lengthOf = (content: StoredContent): number =>
  ownLengthOf(content) +
  Object.entries(content.translated).reduce(
    (sum, [language, made]) => sum + ownLengthOf({ ...NO_BODY, ...content.translations[language], ...made }),
    0,
  );

const NO_BODY = { html: null, markdown: null, mjml: null, text: null };

const ownLengthOf = ({
  html,
  markdown,
  mjml,
  text,
  sources,
  layered,
}: Pick<StoredContent, 'html' | 'markdown' | 'mjml' | 'text' | 'sources' | 'layered'>): number =>
  [html, markdown, mjml, text, sources.html, sources.text, layered?.body].reduce<number>(
    (sum, part) => sum + (part?.length ?? 0),
    1_000 + STRETCH * Object.values(layered?.stretches ?? {}).reduce((sum, { length }) => sum + length, 0),
  );
