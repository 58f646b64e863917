import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import type { Licensed } from '../licenses/license-of.ts';

type Package = Pick<Licensed, 'name' | 'version' | 'license'>;

/** `@scope/name` in its two parts. */
const partsOf = (name: string): { readonly group: string | undefined; readonly own: string } => {
  const [, group, own = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return { group, own };
};

function componentOf({ name, version, license }: Package): Models.Component {
  const { group, own } = partsOf(name);
  const purl = new PackageURL('npm', group, own, version).toString();
  return new Models.Component(Enums.ComponentType.Library, own, {
    group,
    version,
    purl,
    bomRef: purl,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense(license as never)]),
  });
}

/**
 * The bill of materials of a release in CycloneDX 1.6: the runtime, and each package of which something is in
 * the executable.
 */
export function billOfMaterials(version: string, runtime: string, packages: readonly Package[]): string {
  const bun = new Models.Component(Enums.ComponentType.Platform, 'bun', {
    version: runtime,
    bomRef: `bun@${runtime}`,
    purl: new PackageURL('github', 'oven-sh', 'bun', `bun-v${runtime}`).toString(),
  });
  // A package may be there in several versions, and in several places in one.
  const byRef = new Map(packages.map(componentOf).map((one) => [one.bomRef.value, one]));
  const components = [bun, ...byRef.values()];
  const product = new Models.Component(Enums.ComponentType.Application, 'posthorn', {
    version,
    bomRef: `posthorn@${version}`,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('Apache-2.0')]),
  });
  for (const { bomRef } of components) product.dependencies.add(bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: product }),
    components: new Models.ComponentRepository(components),
  });
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 })}\n`;
}
