import { type ComponentProps, type ReactNode, useLayoutEffect } from 'react';
import { directionOf, isolatedIn, pageLanguageAmong } from '../../../../../platform/text/language.ts';
import { RequestError } from '../api/requests.ts';
import { shownAt } from '../ui/display/clock.ts';
import { Form, FormWords } from '../ui/forms/form.tsx';
import { WORDS } from './words/all-words.ts';

/** The words in the first language of the browser that is spoken here; in English where none is. */
export const words = WORDS[pageLanguageAmong(navigator.languages)];

/** A text from elsewhere within these words. */
export const own = (text: string): string => isolatedIn(words.language, text);

/** A day, by the clock that pages show times by. */
export const dayOf = (at: string): string =>
  own(shownAt(Date.parse(at)).toLocaleString(words.language, { dateStyle: 'long', timeZone: 'UTC' }));

const stateLanguage = (language: string): void => {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
};

/** A page in the language of the browser. The pages behind it are in English. */
export function Spoken({ children }: { readonly children: ReactNode }) {
  useLayoutEffect(() => {
    stateLanguage(words.language);
    return () => stateLanguage('en');
  }, []);
  return <FormWords value={words.form}>{children}</FormWords>;
}

/** The words of refusals, by the fields that they name. */
const AT_FIELDS = {
  '/body/name': words.problems.name,
  '/body/password': words.problems.password,
  '/body/code': words.problems.code,
} as const;

const ofStatus = (status: number, message: string, isMember: boolean): string | null => {
  const { problems } = words;
  if (status === 0 || status >= 500) return problems.away;
  switch (status) {
    case 400:
      return problems.spent;
    case 401:
      // The other refusals are about this installation, for its operator.
      return /address or the password/.test(message) ? problems.credentials : null;
    case 403:
      return /no workspace/.test(message) ? problems.noWorkspace : null;
    case 409:
      return isMember ? problems.full : problems.taken;
    case 429:
      return problems.tooSoon(Number(/\d+/.exec(message)?.[0] ?? 60));
    default:
      return null;
  }
};

/** A refusal in the language of the page; one that only an operator can mend stays as it is. */
export function inWords(error: unknown, isMember: boolean): Error {
  if (!(error instanceof RequestError)) return error as Error;
  const { status, message, details } = error;
  const told = details.flatMap(({ path }) => {
    const text = (AT_FIELDS as Readonly<Record<string, string>>)[path];
    return text === undefined ? [] : [{ path, message: text }];
  });
  if (told.length > 0) return new RequestError(status, told[0]?.message ?? '', null, told);
  const said = ofStatus(status, message, isMember);
  return said === null ? error : new RequestError(status, said);
}

/** A form whose refusals are in the language of the page. */
export function SpokenForm({
  isMember = false,
  onSend,
  ...form
}: Omit<ComponentProps<typeof Form>, 'onSend'> & {
  /** True for a person who is signed in. */
  readonly isMember?: boolean;
  readonly onSend: NonNullable<ComponentProps<typeof Form>['onSend']>;
}) {
  return (
    <Form
      {...form}
      onSend={async (fields) => {
        try {
          await onSend(fields);
        } catch (error) {
          throw inWords(error, isMember);
        }
      }}
    />
  );
}
