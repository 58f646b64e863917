import { type HtmlReading, readHtml } from '../../mail/html/read-html.ts';
import { EXIT_PLACEHOLDER, missingWayOut, offersExit, textWithWayOut } from '../../mail/html/way-out.ts';
import type { Unsubscribe } from '../../mail/transport/transport.ts';
import { LruMap } from '../../platform/async/lru-map.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { exitTarget, type Link, leaveAddress, linkToken, MANY_LINKS, webAddress } from './api.ts';
import { type CompiledCopies, type CompiledCopy, compiledCopies, type UrlOf } from './compiled-copies.ts';
import { type Frame, type FramedHtml, HELD, PersonalWords } from './personal-word.ts';
import { rewriteHtml } from './rewrite.ts';

/** The recipient of a copy, and the tracking of it. */
export interface CopyTracking {
  readonly destination: { readonly emailId: string; readonly recipient: number };
  readonly workspaceId: string;
  readonly address: string;
  /** A host of the sender's own for the links; null for this service's address. */
  readonly host: string | null;
  readonly opens: boolean;
  readonly clicks: boolean;
  /** The language of the copy; absent where none is known. Copies of one language are alike. */
  readonly language?: string | undefined;
  /** The host of the address whose mail unsubscribes the recipient; null where none comes in. */
  readonly leaveHost: string | null;
  /** The list that it goes to; the link to unsubscribe leaves it, and every reader sees one. */
  readonly list: { readonly campaignId: string; readonly audienceId: string } | null;
}

/** The two parts of a message. */
export interface Parts {
  readonly text: string | null;
  readonly html: string | null;
}

/** The services and settings that links are made with. */
export interface LinkMaker {
  readonly signer: Pick<Signer, 'sign'>;
  /** This service's own address, without a slash at its end. */
  readonly publicUrl: string;
  /** The text part that is sent when only html was given. */
  textFromHtml(html: string): string;
}

/**
 * Takes the place of the unsubscribe link in the draft that all copies share. It is a URL that cannot be
 * guessed.
 */
const EXIT = `https://exit.invalid/${crypto.randomUUID()}`;

/** The longest link that is tracked: with a signature, a longer one would not survive every mail program. */
const LONGEST_URL = 2_048;

/**
 * The part of the work that all copies of an email share: reading html takes time, and there may be a hundred
 * copies.
 */
class Draft {
  readonly html: string | null;
  /** The text part that was given, not made of the html. */
  readonly given: string | null;
  /** The html where it differs from that of others in one word. */
  readonly framed: FramedHtml | null;
  #text: string | null | undefined;
  #reading: HtmlReading | undefined;
  #many: number | undefined;

  constructor(
    private readonly parts: Parts,
    private readonly textFromHtml: LinkMaker['textFromHtml'],
    words: Pick<PersonalWords, 'read'> | null,
  ) {
    const { text, html } = parts;
    this.html = html === null ? null : html.replace(EXIT_PLACEHOLDER, EXIT);
    this.given = text === null ? null : text.replace(EXIT_PLACEHOLDER, EXIT);
    this.framed = this.html === null ? null : (words?.read(this.html) ?? null);
  }

  /** With the placeholder, the headers offer to unsubscribe as well (RFC 8058). */
  get offersExit(): boolean {
    return [this.parts.text, this.parts.html].some((part) => part !== null && offersExit(part));
  }

  /** The text part, made before links are tracked: it shows the real addresses. */
  get text(): string | null {
    if (this.#text === undefined)
      this.#text =
        this.given ?? this.framed?.parts.text ?? (this.html === null ? null : this.textFromHtml(this.html));
    return this.#text;
  }

  /** The number of different links that are tracked, three for more; undefined where one at most is. */
  manyLinks(isOwn: (url: string) => boolean): number | undefined {
    this.#many ??= Math.min(MANY_LINKS, new Set(this.#webLinks().filter((url) => !isOwn(url))).size);
    return this.#many > 1 ? this.#many : undefined;
  }

  /** The html as mail programs read it; who sees the unsubscribe link among the rest. */
  get reading(): HtmlReading {
    this.#reading ??= this.framed?.parts.reading ?? readHtml(this.html ?? '', EXIT);
    return this.#reading;
  }

  #webLinks = (): readonly string[] => this.reading.links.flatMap(({ url }) => webAddress(url) ?? []);
}

/** Writes the parts of a copy with the URLs of its links. */
function partsWith(
  draft: Draft,
  { opens, clicks, list, language }: Pick<CopyTracking, 'opens' | 'clicks' | 'list' | 'language'>,
  publicUrl: string,
  urlOf: UrlOf,
  mailtoOf: () => string | null,
): Parts & { readonly unsubscribe: Unsubscribe | null } {
  // A link to unsubscribe stays one with a query of its author behind it. Webhooks get the address of each
  // click, and anyone with this address can unsubscribe the person.
  const isOwn = (url: string): boolean => url.startsWith(EXIT) || url.startsWith(`${publicUrl}/p/`);
  const links = clicks && draft.html !== null ? draft.manyLinks(isOwn) : undefined;
  const exit = list !== null || draft.offersExit ? urlOf('unsubscribe', 'u', '', undefined) : null;
  const withExit = (part: string): string => (exit === null ? part : part.replaceAll(EXIT, () => exit));
  const clickable = (url: string): string => {
    const target = withExit(url);
    return isOwn(url) || target.length > LONGEST_URL ? escaped(target) : urlOf('click', 'c', target, links);
  };
  const changed = (html: string): string => {
    if (!clicks && !opens && list === null) return withExit(html);
    // Every copy of a campaign shows a way to leave it, even where the author's own link is missing for
    // this recipient.
    const footer = list === null ? '' : missingWayOut(draft.reading, EXIT, language);
    const added = footer + (opens ? pixel(urlOf('open', 'o', '', links)) : '');
    return withExit(rewriteHtml(html, draft.reading, { link: clicks ? clickable : null, added }));
  };
  const readable = (text: string): string =>
    withExit(list === null ? text : textWithWayOut(text, EXIT, language));
  return {
    text: draft.text === null ? null : readable(draft.text),
    html: draft.html === null ? null : changed(draft.html),
    unsubscribe: exit === null ? null : { url: exit, mailto: mailtoOf() },
  };
}

/** Personalises the parts of a copy: its links tell who opened, clicked or unsubscribed. */
export const personaliser = (maker: LinkMaker) => copyTexts(maker).personalise;

/** The same, and copies of a campaign from what they have in common with the ones before. */
export function copyTexts({ signer, publicUrl, textFromHtml }: LinkMaker) {
  /** Drafts by the parts of a message, the same object for every copy of an attempt. */
  const drafts = new WeakMap<Parts, { readonly language: string; readonly draft: Draft }>();
  const words = new LruMap<string, PersonalWords>({ entries: MOST_LANGUAGES });
  const wordsOf = (language: string): PersonalWords => {
    const known = words.get(language) ?? new PersonalWords(EXIT, textFromHtml);
    words.set(language, known);
    return known;
  };
  const compiledOf = new WeakMap<Frame, LruMap<string, CompiledCopies | null>>();

  const draftOf = (parts: Parts, { list, language = '' }: CopyTracking): Draft => {
    const known = drafts.get(parts);
    if (known?.language === language) return known.draft;
    // Only the emails of a campaign are alike.
    const draft = new Draft(parts, textFromHtml, list === null ? null : wordsOf(language));
    drafts.set(parts, { language, draft });
    return draft;
  };
  const baseOf = ({ host }: CopyTracking): string => (host === null ? publicUrl : `https://${host}`);
  const urlsOf =
    (tracked: CopyTracking): UrlOf =>
    (purpose, path, target, links) => {
      const content: Link = {
        ...tracked.destination,
        target:
          purpose === 'unsubscribe' ? exitTarget({ ...tracked, language: tracked.language ?? null }) : target,
        ...(links === undefined ? {} : { links }),
      };
      return `${baseOf(tracked)}/t/${path}/${linkToken(purpose, content, signer)}`;
    };

  const mailtoOf =
    ({ destination, leaveHost }: CopyTracking) =>
    (): string | null =>
      leaveHost === null ? null : leaveAddress(destination, leaveHost, signer);

  /** The copies that have a frame in common; null where their parts cannot be compiled. */
  const compile = (draft: Draft, framed: FramedHtml, tracked: CopyTracking): CompiledCopies | null => {
    const { html } = framed.held;
    const text = draft.given?.split(framed.word).join(HELD) ?? null;
    const held = new Draft({ text, html }, textFromHtml, { read: () => framed.held });
    return compiledCopies((urlOf) => partsWith(held, tracked, publicUrl, urlOf, () => null), text);
  };

  const copiesOf = (draft: Draft, framed: FramedHtml, tracked: CopyTracking): CompiledCopies | null => {
    const known =
      compiledOf.get(framed.frame) ?? new LruMap<string, CompiledCopies | null>({ entries: MOST_COMPILED });
    compiledOf.set(framed.frame, known);
    const { opens, clicks, language = '' } = tracked;
    const name = `${baseOf(tracked)} ${opens} ${clicks} ${draft.given === null} ${language}`;
    let copies = known.get(name);
    if (copies === undefined) {
      copies = compile(draft, framed, tracked);
      known.set(name, copies);
    }
    return copies;
  };

  return {
    personalise: (
      parts: Parts,
      tracked: CopyTracking,
    ): Parts & { readonly unsubscribe: Unsubscribe | null } =>
      partsWith(draftOf(parts, tracked), tracked, publicUrl, urlsOf(tracked), mailtoOf(tracked)),

    /**
     * The parts in their transfer encodings; null where they have to be personalised and encoded by
     * themselves.
     */
    compiled(parts: Parts, tracked: CopyTracking): CompiledCopy | null {
      const draft = draftOf(parts, tracked);
      const { framed, given } = draft;
      const copies = framed && copiesOf(draft, framed, tracked);
      if (!copies) return null;
      return copies(framed.word, { given, urlOf: urlsOf(tracked), mailto: mailtoOf(tracked)() });
    },
  };
}

/**
 * Languages whose copies are compared with those before them: in turn, each would differ from the last one in
 * all its words.
 */
const MOST_LANGUAGES = 16;

/** Ways in which copies with one frame are tracked. */
const MOST_COMPILED = 2;

const pixel = (url: string): string =>
  `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;

const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
