import type { RequestError } from '../../api/requests.ts';

/** The field of a pointer into the request: `/body/branding/colour` is the field `branding/colour`. */
function fieldOf(path: string, form: HTMLFormElement): string | null {
  const parts = path.replace(/^\/body\/?/, '').split('/');
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('/');
    if (name !== '' && form.elements.namedItem(name) !== null) return name;
  }
  return null;
}

/** The problems that belong to fields of the form, and the words for all others. */
export function sortProblems(error: RequestError, form: HTMLFormElement) {
  const atFields = new Map<string, string>();
  const others: string[] = [];
  for (const { path, message } of error.details) {
    const field = fieldOf(path, form);
    if (field === null) others.push(message);
    else atFields.set(field, message);
  }
  const isTold = atFields.size > 0 && others.length === 0;
  const words = isTold ? [] : [error.message, ...others, error.suggestion ?? ''];
  return { atFields, words: words.filter((text) => text !== '').join(' ') };
}
