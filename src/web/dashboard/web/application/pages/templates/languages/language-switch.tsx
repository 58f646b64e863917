import { useId, useState } from 'react';
import type { Template } from '../../../../../../client/operations.ts';
import { RequestError } from '../../../api/requests.ts';
import type { EditSession } from '../../../editing/use-editing.ts';
import { useSelected, useValue } from '../../../editing/use-values.ts';
import { Button } from '../../../ui/button.tsx';
import { Field, Form } from '../../../ui/forms/form.tsx';
import { Dialog } from '../../../ui/overlays/dialog.tsx';
import { toast } from '../../../ui/overlays/toast.tsx';
import type { Draft } from '../draft.ts';
import { languageName, ownFields } from './translation-draft.ts';

/** Chooses the language that is edited and shown, and adds or removes one. */
export function LanguageSwitch(props: {
  readonly editing: EditSession<Template, Draft>;
  readonly shown: string | null;
  readonly isReadOnly: boolean;
  readonly onShow: (language: string | null) => void;
}) {
  const id = useId();
  const { editing, shown, isReadOnly, onShow } = props;
  const { valuesNow, set } = editing;
  const [isAdding, setAdding] = useState(false);
  const own = useValue(editing, 'language').trim();
  // The tags as one text: their content changes with each key, and they do not.
  const tags = useSelected(editing, ({ translations }) => Object.keys(translations).toSorted().join(' '));
  const languages = tags === '' ? [] : tags.split(' ');
  const withFields = (language: string) => {
    const draft = valuesNow();
    set({ translations: { ...draft.translations, [language]: ownFields(draft) } });
  };
  const remove = (language: string) => {
    const { [language]: _, ...others } = valuesNow().translations;
    onShow(null);
    set({ translations: others });
  };
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-edge px-3 py-2">
      <label htmlFor={id} className="text-dim">
        Language
      </label>
      <select
        id={id}
        value={shown ?? ''}
        onChange={({ target }) => onShow(target.value === '' ? null : target.value)}
        className="field field-small w-auto max-w-full"
      >
        <option value="">{own === '' ? 'Own content' : `${languageName(own)}, own content`}</option>
        {languages.map((language) => (
          <option key={language} value={language}>
            {languageName(language)}
          </option>
        ))}
      </select>
      {!isReadOnly && (
        <>
          <Button look="quiet" onClick={() => setAdding(true)}>
            Add language
          </Button>
          {shown !== null && (
            <>
              <Button look="quiet" onClick={() => withFields(shown)}>
                Copy own content
              </Button>
              <Button look="quiet" onClick={() => remove(shown)}>
                Remove language
              </Button>
            </>
          )}
        </>
      )}
      {isAdding && (
        <Dialog title="Add language" onClose={() => setAdding(false)}>
          <p className="text-dim">
            The translation begins as a copy of the own content. Contacts with this language, or one that it
            contains, get it.
          </p>
          <Form
            action="Add language"
            aside={<Button onClick={() => setAdding(false)}>Cancel</Button>}
            onSend={async ({ language: text = '' }) => {
              const language = tagIn(text);
              if (language === '')
                throw new RequestError(422, 'No language', null, [
                  { path: '/body/language', message: 'Enter a language tag, such as de.' },
                ]);
              const isNew = language !== own && !languages.includes(language);
              if (isNew) withFields(language);
              onShow(language === own ? null : language);
              setAdding(false);
              toast(
                isNew
                  ? `${languageName(language)} added. Translate and save it.`
                  : `${languageName(language)} is there already`,
              );
            }}
          >
            <Field
              name="language"
              label="Language tag"
              hint="For example de, pt-BR or zh-Hant."
              autoComplete="off"
            />
          </Form>
        </Dialog>
      )}
    </div>
  );
}

/** A tag in its usual letters; the service refuses one that is none. */
function tagIn(text: string): string {
  try {
    return Intl.getCanonicalLocales(text.trim())[0] ?? text.trim();
  } catch {
    return text.trim();
  }
}
