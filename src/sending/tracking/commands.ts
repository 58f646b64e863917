import { type HtmlReading, readHtml } from '../../mail/html/read-html.ts';
import { EXIT_PLACEHOLDER, missingWayOut, offersExit, textWithWayOut } from '../../mail/html/way-out.ts';
import type { Unsubscribe } from '../../mail/transport/transport.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { isWeb, type Link, linkToken, MANY_LINKS, type Purpose } from './api.ts';
import { PersonalWords, type ReadParts } from './personal-word.ts';
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

/** The part of the work that all copies of an email share: reading html takes time, and there may be fifty copies. */
class Draft {
  readonly html: string | null;
  readonly offersExit: boolean;
  readonly #given: string | null;
  readonly #known: ReadParts | null;
  #text: string | null | undefined;
  #reading: HtmlReading | undefined;
  #many: number | undefined;

  constructor(
    { text, html }: Parts,
    private readonly textFromHtml: LinkMaker['textFromHtml'],
    words: PersonalWords | null,
  ) {
    // With the placeholder, the headers offer to unsubscribe as well (RFC 8058).
    this.offersExit = [text, html].some((part) => part !== null && offersExit(part));
    this.html = html === null ? null : html.replace(EXIT_PLACEHOLDER, EXIT);
    this.#given = text === null ? null : text.replace(EXIT_PLACEHOLDER, EXIT);
    this.#known = this.html === null ? null : (words?.read(this.html) ?? null);
    this.#reading = this.#known?.reading;
  }

  /** The text part, made before links are tracked: it shows the real addresses. */
  get text(): string | null {
    if (this.#text === undefined)
      this.#text =
        this.#given ?? this.#known?.text ?? (this.html === null ? null : this.textFromHtml(this.html));
    return this.#text;
  }

  /** The number of different links that are tracked, three for more; undefined where one at most is. */
  manyLinks(isOwn: (url: string) => boolean): number | undefined {
    this.#many ??= Math.min(MANY_LINKS, new Set(this.#webLinks().filter((url) => !isOwn(url))).size);
    return this.#many > 1 ? this.#many : undefined;
  }

  /** The html as mail programs read it; who sees the unsubscribe link among the rest. */
  get reading(): HtmlReading {
    this.#reading ??= readHtml(this.html ?? '', EXIT);
    return this.#reading;
  }

  #webLinks = (): readonly string[] => this.reading.links.map(({ url }) => url).filter(isWeb);
}

/** Personalises the parts of a copy: its links tell who opened, clicked or unsubscribed. */
export function personaliser({ signer, publicUrl, textFromHtml }: LinkMaker) {
  /** Drafts by the parts of a message, the same object for every copy of an attempt. */
  const drafts = new WeakMap<Parts, Draft>();
  const words = new PersonalWords(EXIT, textFromHtml);

  return (parts: Parts, tracked: CopyTracking): Parts & { readonly unsubscribe: Unsubscribe | null } => {
    const { destination, workspaceId, address, host, opens, clicks, list } = tracked;
    // Only the emails of a campaign are alike.
    const draft = drafts.get(parts) ?? new Draft(parts, textFromHtml, list === null ? null : words);
    drafts.set(parts, draft);
    const base = host === null ? publicUrl : `https://${host}`;
    const isOwn = (url: string): boolean => url === EXIT || url.startsWith(`${publicUrl}/p/`);
    const links = clicks && draft.html !== null ? draft.manyLinks(isOwn) : undefined;
    const link = (purpose: Purpose, path: string, target = ''): string => {
      const isVisit = links !== undefined && purpose !== 'unsubscribe';
      const content: Link = { ...destination, target, ...(isVisit ? { links } : {}) };
      return `${base}/t/${path}/${linkToken(purpose, content, signer)}`;
    };
    // The link holds workspace and address, since it has to work when the email has long been deleted.
    const left = list === null ? '' : ` ${list.audienceId} ${list.campaignId}`;
    const exit =
      list !== null || draft.offersExit ? link('unsubscribe', 'u', `${workspaceId} ${address}${left}`) : null;
    const withExit = (part: string): string => (exit === null ? part : part.replaceAll(EXIT, () => exit));
    const clickable = (url: string): string => {
      const target = withExit(url);
      return isOwn(url) || target.length > LONGEST_URL ? escaped(target) : link('click', 'c', target);
    };
    const changed = (html: string): string => {
      if (!clicks && !opens && list === null) return withExit(html);
      // Every copy of a campaign shows a way to leave it, even where the author's own link is missing for
      // this recipient.
      const footer = list === null ? '' : missingWayOut(draft.reading, EXIT);
      const added = footer + (opens ? pixel(link('open', 'o')) : '');
      return withExit(rewriteHtml(html, draft.reading, { link: clicks ? clickable : null, added }));
    };
    const readable = (text: string): string => withExit(list === null ? text : textWithWayOut(text, EXIT));
    return {
      text: draft.text === null ? null : readable(draft.text),
      html: draft.html === null ? null : changed(draft.html),
      unsubscribe: exit === null ? null : { url: exit, mailto: null },
    };
  };
}

const pixel = (url: string): string =>
  `<img src="${url}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;

const escaped = (url: string): string => url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
