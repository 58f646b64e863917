import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SETTINGS } from '../../../src/platform/config/settings/settings.ts';
import { deployed } from '../../support/proxies.ts';

// The files of docs/deploy are read as their programs read them, and by those programs where they are
// installed.

const FOLDER = resolve(import.meta.dir, '../../../docs/deploy');
const MOST_EXPOSED = 2;

/** True where the program is installed; says so where it is not. */
function isHere(program: string): boolean {
  const found = Bun.which(program) !== null;
  if (!found) console.log(`Not tried: ${program} is not installed here.`);
  return found;
}

test.skipIf(!isHere('promtool'))('promtool takes the alert rules', () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', `${FOLDER}/alerts.yaml`], {
    encoding: 'utf8',
  });
  expect({ status, said: stdout + stderr }).toMatchObject({ status: 0 });
});

test.skipIf(!isHere('systemd-analyze'))('the systemd unit is exposed less than 2.0 of 10', () => {
  const words = ['security', '--offline=true', '--no-pager', `${FOLDER}/posthorn.service`];
  const { stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
  expect(stderr).toBe('');
  const [, level] = /Overall exposure level for posthorn\.service: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(level)).toBeLessThan(MOST_EXPOSED);
});

interface Compose {
  readonly services: Record<
    string,
    { readonly environment: Record<string, string>; readonly volumes?: readonly string[] }
  >;
  readonly volumes?: Record<string, unknown>;
}

test.each(['../../compose.yaml', 'compose-postgres.yaml'])(
  '%s sets what there is, on volumes that there are',
  (page) => {
    const { services, volumes = {} } = Bun.YAML.parse(deployed(page)) as Compose;
    const set = Object.keys(services.posthorn?.environment ?? {});
    expect(set).toContain('PUBLIC_URL');
    expect(set.filter((name) => !(name in SETTINGS))).toEqual([]);
    const mounted = Object.values(services).flatMap((service) => service.volumes ?? []);
    expect(mounted.map((mount) => mount.split(':')[0])).toEqual(Object.keys(volumes));
  },
);

type Labels = Record<string, string>;
interface Manifest {
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: three kinds of objects, of which the test names what it reads.
  readonly spec: any;
}

test('the Kubernetes objects belong together, and set what there is', () => {
  const manifests = Bun.YAML.parse(deployed('kubernetes.yaml')) as readonly Manifest[];
  const of = (kind: string) => manifests.find((manifest) => manifest.kind === kind)?.spec;
  const deployment = of('Deployment');
  const labels: Labels = deployment.template.metadata.labels;
  expect(deployment.selector.matchLabels).toEqual(labels);
  expect(of('Service').selector).toEqual(labels);
  expect(of('PodDisruptionBudget').selector.matchLabels).toEqual(labels);
  const [container] = deployment.template.spec.containers;
  const ports = container.ports.map(({ name }: { name: string }) => name);
  expect(ports).toContain(of('Service').ports[0].targetPort);
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
    expect(ports).toContain((container[probe].httpGet ?? container[probe].tcpSocket).port);
  const mounted = container.volumeMounts.map(({ name }: { name: string }) => name);
  expect(deployment.template.spec.volumes.map(({ name }: { name: string }) => name)).toEqual(mounted);
  const names = container.env.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => !(name in SETTINGS))).toEqual([]);
});

test('the image is of the present version, and Traefik leads to the port of the service', () => {
  const { version } = JSON.parse(readFileSync(resolve(FOLDER, '../../package.json'), 'utf8'));
  expect(deployed('kubernetes.yaml')).toContain(`image: posthorn:${version}`);
  const { http } = Bun.YAML.parse(deployed('traefik.yaml')) as {
    http: { routers: Labels; services: Record<string, { loadBalancer: { servers: { url: string }[] } }> };
  };
  expect(Object.keys(http.routers)).toEqual(Object.keys(http.services));
  expect(http.services.posthorn?.loadBalancer.servers).toEqual([
    { url: `http://127.0.0.1:${SETTINGS.PORT.fallback}` },
  ]);
});
