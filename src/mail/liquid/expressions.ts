import { type Output, type Token, TokenKind, type Value } from 'liquidjs';

/**
 * The problem of an expression that the library reads as far as it can: it writes `a` for `{{ a - b }}`,
 * `false` for `{{> footer }}`, and takes `{% if a eq b %}` for true. Null for one that is whole.
 */
export function problemOfExpression({
  initial,
}: Value): { readonly message: string; readonly token: Token } | null {
  let isAfterValue = false;
  let last: Token | undefined;
  for (const token of initial.postfix.toSorted((one, other) => one.begin - other.begin)) {
    last = token;
    const word = token.getText();
    const isOperator = token.kind === TokenKind.Operator;
    if (isOperator && word !== 'not') {
      if (!isAfterValue) return { message: `the operator ${word} has no value before it.`, token };
      isAfterValue = false;
      continue;
    }
    if (isAfterValue) return { message: `${word} follows a value without an operator or a filter.`, token };
    if (word.startsWith('.')) return { message: `${word} has no name before its dot.`, token };
    isAfterValue = !isOperator;
  }
  return last && !isAfterValue
    ? { message: `the operator ${last.getText()} has no value behind it.`, token: last }
    : null;
}

/**
 * The same for an output as it is written: what follows a comma is left out, and an `else` is a name that has
 * no value.
 */
export function problemOfOutput({ token }: Output): string | null {
  const text = token.getText();
  if (/^\{\{-?\s*else\s*-?\}\}$/.test(text)) return 'else is a tag.';
  const [first = ''] = text.replaceAll(QUOTED, '').split('|', 1);
  return first.includes(',') ? 'a comma goes between the arguments of a filter only.' : null;
}

/** A quote behind a backslash is one of the text. */
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gs;

/**
 * Forms of Handlebars, Mustache, the templates of Go, Twig and JavaScript, and what takes their place in
 * Liquid.
 */
const FORMS: readonly (readonly [form: RegExp, remedy: string])[] = [
  [/^\{\{\{|^\{\{-?\s*&/, '{{ name | raw }} writes a value as it is'],
  [/^\{\{[~-]?\s*(?:#\s*each|range)\b/, 'write {% for item in items %} … {% endfor %}'],
  [/^\{\{[~-]?\s*#?\s*if\b/, 'write {% if name %} … {% endif %}'],
  [/^\{\{[~-]?\s*(?:#\s*unless\b|\^)/, 'write {% unless name %} … {% endunless %}'],
  [/^\{\{[~-]?\s*else\s+if\b/, 'write {% elsif name %}'],
  [/^\{\{[~-]?\s*else\b/, 'write {% else %}'],
  [
    /^\{\{[~-]?\s*(?:#|with\b)/,
    'write {% if name %} … {% endif %}, or {% for item in items %} … {% endfor %} for a list',
  ],
  [/^\{\{[~-]?\s*\//, 'write {% endif %} or {% endfor %}'],
  [/^\{\{[~-]?\s*!(?:--|\s)/, 'write {% comment %} … {% endcomment %}'],
  [/^\{\{[~-]?\s*>/, "write {% render 'footer' %}"],
  [/^\{\{[~-]?\s*(?:[@$*~]|\.)/, 'write the name alone, such as {{ name }}'],
  [/^\{%-?\s*(?:elseif|elif|else\s+if)\b/, 'write {% elsif name %}'],
  [/^\{%-?\s*set\b/, 'write {% assign name = value %}'],
  [/^\{%-?\s*(?:foreach\b|for\s+\S+\s+as\b)/, 'write {% for item in items %}'],
  [/&&/, 'write {% if one and other %}'],
  [/^\{%.*\|\|/s, 'write {% if one or other %}'],
  [/\|\||\?\?/, 'write {{ name | default: "friend" }}'],
  [
    /^\{%-?\s*(?:if|elsif|unless)\b.*(?:[^=!<>]=(?!=)|===|\s(?:eq|is|in)\s)/s,
    'write {% if name == "value" %}',
  ],
  [/\s-\s/, 'write {{ price | minus: discount }}'],
  [/\s\+\s/, 'write {{ price | plus: postage }}'],
  [/\s\*\s/, 'write {{ price | times: number }}'],
  [/\s\/\s/, 'write {{ price | divided_by: number }}'],
  [/\w\(/, 'arguments follow the name of a filter and a colon, such as {{ name | default: "friend" }}'],
];

/**
 * The end of a problem of a tag or output that has the form of other templates: what to write instead. `tag`
 * begins with its braces.
 */
export function remedyFor(tag: string): string {
  const bare = tag.replaceAll(QUOTED, '""');
  const remedy = FORMS.find(([form]) => form.test(bare))?.[1];
  return remedy === undefined ? '' : ` Templates are Liquid: ${remedy}.`;
}
