import { JSON_TYPE } from '../../../http/body/media-type.ts';
import type { CodeSample, Operation, Parameter, Reference } from './document.ts';

type SampleOperation = Pick<Operation, 'parameters' | 'requestBody' | 'security'>;

/** The shell command of a request with its example; only the key has to be filled in. */
export function curlSample(
  method: string,
  path: string,
  baseUrl: string,
  operation: SampleOperation,
): CodeSample {
  const content = operation.requestBody?.content ?? {};
  const body = content[JSON_TYPE]?.example;
  const [fileType] = Object.keys(content).filter((type) => type !== JSON_TYPE);
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${baseUrl}${examplePath(path, operation)}${exampleQuery(operation)}'`,
    ...(operation.security ? [] : ['-H "Authorization: Bearer $POSTHORN_API_KEY"']),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
        ]),
    ...(fileType === undefined
      ? []
      : [`-H 'Content-Type: ${fileType}'`, `--data-binary '@example.${fileType.split('/')[1]}'`]),
  ];
  return { lang: 'shell', label: 'curl', source: lines.join(' \\\n  ') };
}

/**
 * The path with an example value in place of each name, so that the line runs unchanged: curl reads braces as
 * a list.
 */
const examplePath = (path: string, { parameters = [] }: SampleOperation): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((each): each is Parameter => isNamed(each, name));
    const examples = parameter?.schema.examples;
    return Array.isArray(examples) ? encodeURIComponent(String(examples[0])) : name;
  });

/** The parameters that no request may leave out, with their examples. */
function exampleQuery({ parameters = [] }: SampleOperation): string {
  const needed = parameters.filter(
    (each): each is Parameter => 'in' in each && each.in === 'query' && each.required === true,
  );
  return needed
    .map(
      ({ name, example = name }, index) => `${index === 0 ? '?' : '&'}${name}=${encodeURIComponent(example)}`,
    )
    .join('');
}

const isNamed = (each: Parameter | Reference, name: string): each is Parameter =>
  'name' in each && each.name === name;
