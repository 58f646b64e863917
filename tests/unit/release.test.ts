import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { engines, scripts, version } from '../../package.json';
import { billOfMaterials } from '../../scripts/release/bill-of-materials.ts';
import { TARGETS, targetsOf } from '../../scripts/release/targets.ts';

const ROOT = resolve(import.meta.dir, '../..');

/** The packages of the executable, as the notice of licences lists them. */
const shipped = [
  ...readFileSync(`${ROOT}/THIRD-PARTY-LICENSES.txt`, 'utf8').matchAll(/^(\S+) (\d\S*) \(([\w.-]+)\)$/gm),
].map(([, name = '', version = '', license = '']) => ({ name, version, license }));

test('the bill of materials is CycloneDX 1.6 and lists the runtime and every package that is shipped', async () => {
  expect(shipped.length).toBeGreaterThan(100);
  const bill = billOfMaterials('1.2.3', '1.4.5', shipped);
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(bill)).toBeNull();
  const { components, metadata, dependencies } = JSON.parse(bill);
  expect(metadata.component).toMatchObject({ type: 'application', name: 'posthorn', version: '1.2.3' });
  const listed = new Set(components.map(({ purl }: { purl: string }) => purl));
  expect(listed).toContain('pkg:github/oven-sh/bun@bun-v1.4.5');
  for (const { name, version } of shipped)
    expect(listed).toContain(`pkg:npm/${name.replace(/^@/, '%40')}@${version.replaceAll('+', '%2B')}`);
  const [product] = dependencies.filter(({ ref }: { ref: string }) => ref === 'posthorn@1.2.3');
  expect(product.dependsOn).toHaveLength(components.length);
});

test('a tag of another version, and a target that is none, are refused with a sentence', () => {
  const words = ['scripts/release.ts', '--tag', 'v99.0.0'];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' });
  expect({ status, said: stderr.trim() }).toEqual({
    status: 1,
    said: `The tag is v99.0.0, and package.json has version ${version}: make them the same.`,
  });
  expect(() => targetsOf(['linux-x64', 'amiga'])).toThrow(
    'There is no target amiga. Name some of: linux-x64,',
  );
  expect(targetsOf([])).toBe(TARGETS);
});

test('the workflow runs commands that there are, on the runtime that is asked for', () => {
  const workflow = readFileSync(`${ROOT}/.github/workflows/release.yml`, 'utf8');
  // biome-ignore lint/suspicious/noExplicitAny: what is read is asserted on.
  const { jobs } = Bun.YAML.parse(workflow) as any;
  expect(Object.keys(jobs)).toEqual(['executables', 'image', 'tag']);
  expect(workflow).toContain(`bun@${engines.bun}`);
  for (const [, name = ''] of workflow.matchAll(/\bbun run (\w+)/g))
    expect(Object.keys(scripts)).toContain(name);
  for (const [, path = ''] of workflow.matchAll(/\bbun (scripts\/\S+)/g))
    expect(() => readFileSync(`${ROOT}/${path}`)).not.toThrow();
  // The name of a tag or a branch must not become a command.
  const commands = (Object.values(jobs) as { steps: { run?: string }[] }[]).flatMap(({ steps }) => steps);
  for (const { run = '' } of commands) expect(run).not.toContain('${{');
});
