/**
 * Structured fields, such as Content-Type, with their parameters (RFC 2045 5.1), as the parser, postal-mime
 * 4.0.0, reads them.
 */
import {
  endOfHeader,
  fieldOf,
  joinFields,
  type RawField,
  readFields,
  replaceField,
  valueOfField,
} from './header-editor.ts';

interface StructuredField {
  /** In lower case. */
  readonly value: string;
  /** By their names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** A quote that is not closed reaches to the end of the field. */
const PARAMETER = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)(?:"|$)|([^\s;"]*))/g;

/**
 * Quoted strings, which have no comments, and comments (RFC 5322 3.2.2). A bracket within a word, as in
 * `Bill(1).pdf`, begins none.
 */
const COMMENT = /"(?:[^"\\]|\\.)*(?:"|$)|(?<=[\s;])\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)/g;

/** The name of a parameter with its section and the sign of an encoded value (RFC 2231 3 and 4). */
const SECTION = /^([^*]+)\*(?:(\d{1,9})\*?)?$/;

/** Octets of a field, and behind its first semicolon where it is edited, in which parameters are read. */
const LONGEST_PARAMETERS = 4_096;

/** The first field of this name; empty where there is none. */
export function typedOf(fields: readonly RawField[], name: string): StructuredField {
  const field = fields.find((one) => one.name === name);
  if (!field) return { value: '', parameters: new Map() };
  const whole = valueOfField(field);
  const written = whole
    .slice(0, LONGEST_PARAMETERS)
    .replace(COMMENT, (found) => (found.startsWith('"') ? found : ''));
  const isMended = name === 'content-type' && whole.length <= LONGEST_PARAMETERS;
  const text = isMended ? mendedType(written, fields) : written;
  const semicolon = text.indexOf(';');
  return {
    value: (semicolon === -1 ? text : text.slice(0, semicolon))
      .replace(/\([^()]*\)/g, '')
      .trim()
      .toLowerCase(),
    parameters: semicolon === -1 ? new Map() : parametersIn(text.slice(semicolon)),
  };
}

const WELL_FORMED = /^[\w!#$&^+-]+\/[\w!#$&^.+-]+(?<!\.)\s*(?:;|$)/;
/** The type, with what programs write between it and the parameters in place of the semicolon. */
const TYPE =
  /^[\s"<]*(?:content-type:[\s"<]*)?([\w!#$&^+-]+)\s*\/\s*([\w!#$&^+-]+(?:\.[\w!#$&^+-]+)*)[\s">,:./;]*/i;
/** A type alone, such as `html`. */
const WORD = /^[\s"<]*(?:text|plain|html|multipart)?[\s">,:/;]*(?=$|[\w*-]+\s*=)/i;
/**
 * A parameter without a semicolon behind it, or a quoted string, in which there is none. A boundary may have
 * blanks, and is the only one that may have an equals sign behind them.
 */
const RUN_ON =
  /((?:^|;)\s*(?!boundary)[\w*-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;"]+))\s+(?=[\w*-]+\s*=)|"(?:[^"\\]|\\.)*(?:"|$)/gi;
const withSemicolons = (parameters: string): string =>
  parameters.replace(RUN_ON, (found, parameter?: string) => (parameter ? `${parameter}; ` : found));

/**
 * A Content-Type as programs mean it: without the semicolon behind the type, with a comma, a type of one
 * word, none at all. RFC 2045 5.2 has a field whose syntax is wrong taken for text/plain, and so an html that
 * is named so for html; mail programs show both, where the parser has a file. A very long one stays.
 */
export function mendedType(written: string, fields: readonly RawField[]): string {
  if (written.length > LONGEST_PARAMETERS) return written;
  if (WELL_FORMED.test(written)) return withSemicolons(written);
  const [all = '', type, subtype] = TYPE.exec(written) ?? [];
  const rest = (begin: string): string => {
    const parameters = written.slice(begin.length).trim();
    return parameters === '' ? '' : `; ${withSemicolons(parameters)}`;
  };
  if (type !== undefined) return `${type}/${subtype}${rest(all)}`;
  const word = WORD.exec(written)?.[0];
  if (word === undefined) return isFile(written, fields) ? written : 'text/plain';
  const meant = /html/i.test(word) ? 'text/html' : /multipart/i.test(word) ? 'multipart/mixed' : 'text/plain';
  return meant + rest(word);
}

/** True of a part whose header says that it is a file, or has a name. */
const isFile = (type: string, fields: readonly RawField[]): boolean =>
  /name\*?\s*=/i.test(type) || typedOf(fields, 'content-disposition').value === 'attachment';

/** The first one of a name counts, and one in sections or encoded before a plain one. */
function parametersIn(text: string): ReadonlyMap<string, string> {
  const written = new Map<string, string>();
  for (const [, key = '', quoted, token = ''] of text.matchAll(PARAMETER)) {
    const known = key.toLowerCase();
    if (!written.has(known)) written.set(known, quoted?.replace(/\\(.)/g, '$1') ?? token);
  }
  const sections = [...written].flatMap(([key, value]) => {
    const [, name, digits = '0'] = SECTION.exec(key) ?? [];
    const number = Number(digits);
    return name === undefined
      ? []
      : [{ name, number, octets: key.endsWith('*') ? decoded(value, number) : value }];
  });
  const joined = new Map<string, string>();
  for (const { name, octets } of sections.sort((a, b) => a.number - b.number))
    joined.set(name, (joined.get(name) ?? '') + octets);
  return new Map([...written, ...joined]);
}

/**
 * The first section also names a charset and a language. Octets are compared, so that neither matters here.
 */
const decoded = (value: string, section: number): string =>
  (section === 0 ? value.replace(/^[^']*'[^']*'/, '') : value).replace(/%([\da-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/**
 * The header of a part in which a parameter of the Content-Type has another value; null where it has no such
 * parameter.
 */
export function withContentParameter(header: Buffer, name: string, value: string): Buffer | null {
  const fields = readFields(header.toString('latin1'));
  const field = fields.find((one) => one.name === 'content-type');
  const begin = field?.octets.indexOf(';') ?? -1;
  if (!field || begin === -1) return null;
  // The line end is no part of a quoted value that is not closed.
  const end = Math.min(begin + LONGEST_PARAMETERS, field.octets.trimEnd().length);
  let isFound = false;
  // The first one of a name counts. Another field, or a quoted value, may say the same and means something
  // else.
  const changed = field.octets.slice(begin, end).replace(PARAMETER, (parameter, key: string) => {
    if (isFound || key.toLowerCase() !== name) return parameter;
    isFound = true;
    return `; ${name}=${value}`;
  });
  if (!isFound) return null;
  const octets = field.octets.slice(0, begin) + changed + field.octets.slice(end);
  return joinFields(replaceField(fields, { ...field, octets }));
}

/** The header of a part in which these fields have other values. */
export function withHeaderFields(header: Buffer, values: Readonly<Record<string, string>>): Buffer {
  const octets = header.toString('latin1');
  const fields = Object.entries(values).reduce(
    (all, [name, value]) => replaceField(all, fieldOf(name, value)),
    readFields(octets.slice(0, endOfHeader(header))),
  );
  return Buffer.concat([joinFields(fields), header.subarray(endOfHeader(header))]);
}
