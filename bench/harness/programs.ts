// Programs of Debian that a benchmark measures with or beside: found before anything is started, or named with the package that has them.

import {accessSync, constants} from 'node:fs';
import path from 'node:path';

/** Where each of these programs is. Throws an Error that names the packages to install for those that are missing. */
export function programsFound<Name extends string>(packages: Readonly<Record<Name, string>>): Readonly<Record<Name, string>> {
	const names = Object.keys(packages) as Name[];
	const missing = names.filter(name => placeOf(name) === undefined);
	if (missing.length > 0) {
		const wanted = [...new Set(missing.map(name => packages[name]))].join(' ');
		throw new Error(`this benchmark needs ${missing.join(' and ')}, not found in PATH: apt-get install --no-install-recommends ${wanted}`);
	}
	return Object.fromEntries(names.map(name => [name, placeOf(name) ?? name])) as Record<Name, string>;
}

/** What only root runs is not in everybody's PATH. */
const placeOf = (name: string): string | undefined =>
	[...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'].map(folder => path.join(folder, name)).find(isProgram);

function isProgram(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
