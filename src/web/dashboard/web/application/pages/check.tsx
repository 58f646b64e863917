import { useId, useState } from 'react';
import { Link } from 'wouter';
import { CHECKS } from '../../../../../mail/check/codes.ts';
import type { MessageProblem } from '../../../../client/operations.ts';
import { useRead } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { count } from '../ui/display/format.ts';
import { Failed, Skeleton } from '../ui/display/states.tsx';
import { Card } from '../ui/page.tsx';
import { languageName } from './templates/languages/translation-draft.ts';

const LOOKS = {
  error: { tone: 'bad', mark: '✕', word: 'Error' },
  warning: { tone: 'waiting', mark: '!', word: 'Warning' },
  info: { tone: 'quiet', mark: 'i', word: 'Note' },
} as const satisfies Readonly<Record<MessageProblem['severity'], object>>;

/** The checks of the three kinds of messages. */
type CheckRead = 'GET /templates/{id}/check' | 'GET /campaigns/{id}/check' | 'GET /captured/{id}/check';

/** The way to the place of a problem. */
export interface ToPlace {
  /** Shows a line of the source in the editor of the page. */
  readonly onLine?: (line: number) => void;
  /** The template that is a layer, by its index in `layers`. */
  readonly layerId?: (index: number) => string | null;
  /** The template of a campaign. */
  readonly templateId?: string | null;
}

/** The mistakes in a message before it is sent: asked for on demand, because it follows the links. */
export function CheckPanel(
  props: {
    readonly of: CheckRead;
    readonly id: string;
    readonly version?: number;
    /** The translation that the page shows; null for the own content. */
    readonly language?: string | null;
    /** The translations of which the reader chooses here. */
    readonly languages?: readonly string[];
    /** Something that changes with what is checked: then the last answer is gone. */
    readonly state?: string;
    /** The language of all emails of a campaign, in which it is always checked. */
    readonly campaignLanguage?: string | null;
    /** True while the page has changes that the check does not know. */
    readonly isChanged?: boolean;
  } & ToPlace,
) {
  const { of, id, version, languages = [], state, isChanged = false } = props;
  // Changes since then were not asked about yet.
  const [asked, setAsked] = useState<string | null>(null);
  const [chosen, setChosen] = useState('');
  const language = props.language ?? (languages.includes(chosen) ? chosen : null);
  const subject = `${id} ${version ?? ''} ${language ?? ''} ${state ?? ''}`;
  const query = { ...(version !== undefined && { version }), ...(language !== null && { language }) };
  const { data, error, isFetching, refetch } = useRead(
    of,
    { path: { id }, query },
    { enabled: false, every: false },
  );
  const again = () => {
    setAsked(subject);
    void refetch();
  };
  const problems = asked === subject ? data?.problems : undefined;
  return (
    <Card
      title="Check"
      about="Links, images, mail programs, dark mode, placeholders and size."
      actions={
        <Button busy={isFetching} onClick={again}>
          {problems ? 'Check again' : 'Check the message'}
        </Button>
      }
    >
      {languages.length > 0 && <LanguageChoice languages={languages} value={chosen} onChange={setChosen} />}
      {isChanged && <p className="text-caption text-dim">Unsaved changes are not checked.</p>}
      <div role="status" className="grid gap-3 empty:hidden">
        {error && asked === subject && !isFetching && <Failed error={error} onRetry={again} />}
        {asked === subject && !problems && isFetching && <Skeleton className="h-16 w-full" />}
        {problems && <Found problems={problems} {...props} language={props.campaignLanguage ?? language} />}
      </div>
    </Card>
  );
}

function LanguageChoice(props: {
  readonly languages: readonly string[];
  readonly value: string;
  readonly onChange: (language: string) => void;
}) {
  const id = useId();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <label htmlFor={id} className="text-dim">
        Language
      </label>
      <select
        id={id}
        value={props.value}
        onChange={({ target }) => props.onChange(target.value)}
        className="field field-small w-auto max-w-full"
      >
        <option value="">Own content</option>
        {props.languages.map((language) => (
          <option key={language} value={language}>
            {languageName(language)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The way to a place in the language that was checked; null for the own content. */
interface ToLanguage extends ToPlace {
  readonly language: string | null;
}

function Found({ problems, ...to }: { readonly problems: readonly MessageProblem[] } & ToLanguage) {
  if (problems.length === 0) return <p className="text-dim">Nothing was found.</p>;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return (
    <>
      <p className="text-dim">
        {problems.length === 1 ? 'One finding' : `${count(problems.length)} findings`}
        {errors > 0 && `, ${errors === 1 ? 'one error' : `${count(errors)} errors`}`}
      </p>
      <ul className="grid gap-3">
        {problems.map((problem, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two problems may say the same, and none ever moves
          <Problem key={index} problem={problem} {...to} />
        ))}
      </ul>
    </>
  );
}

const Problem = ({
  problem: { severity, code, message, line, path },
  ...to
}: { readonly problem: MessageProblem } & ToLanguage) => (
  <li
    data-color={LOOKS[severity].tone}
    className="grid grid-cols-[1.25rem_minmax(0,1fr)] gap-x-2 border-t border-edge pt-3 first:border-0 first:pt-0"
  >
    <span aria-hidden="true" className="state-text font-semibold">
      {LOOKS[severity].mark}
    </span>
    <span className="min-w-0">
      <span className="flex flex-wrap items-baseline gap-x-2 font-medium">
        <span>
          <span className="sr-only">{LOOKS[severity].word}: </span>
          {CHECKS[code].title}
        </span>
        {line !== null && <Place line={line} path={path} {...to} />}
      </span>
      <span className="block text-caption break-words text-dim">{message}</span>
    </span>
  </li>
);

/** The source of a layer, in its translation where the check has looked at one. */
const LAYER = /^\/layers\/(\d+)\/(?:translations\/([^/]+)\/)?/;

/** The editor of a template, which opens it in a language. */
const templatePage = (id: string, language: string | null): string =>
  `/templates/${id}${language === null ? '' : `?language=${encodeURIComponent(language)}`}`;

function Place({
  line,
  path,
  onLine,
  layerId,
  templateId = null,
  language,
}: { readonly line: number; readonly path: string | null } & ToLanguage) {
  const [, layer, translation = null] = LAYER.exec(path ?? '') ?? [];
  const id =
    path === '/templateId' ? templateId : layer === undefined ? null : (layerId?.(Number(layer)) ?? null);
  const text = `line ${line}`;
  if (id !== null)
    return (
      <Link
        href={templatePage(id, layer === undefined ? language : translation)}
        className="link text-caption font-normal"
      >
        {text}
      </Link>
    );
  if (!onLine || layer !== undefined)
    return <span className="text-caption font-normal text-dim">{text}</span>;
  return (
    <button type="button" className="link text-caption font-normal" onClick={() => onLine(line)}>
      {text}
    </button>
  );
}
