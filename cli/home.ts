// Names of the files in a cluster's home (TROUPE_HOME). Whoever writes or reads one asks here.

import path from 'node:path';

export type Home = {
	readonly root: string;
	/** Everything a backup needs. */
	readonly data: string;
	/** What the process runtime keeps of its pods. */
	readonly runtime: string;
	/** Server, CA and token of the admin; mode 0600. */
	readonly kubeconfig: string;
	readonly adminToken: string;
	readonly ca: string;
	/** Where the running cluster listens, and its pid. */
	readonly endpoints: string;
	readonly log: string;
};

export const homeOf = (root: string): Home => ({
	root,
	data: path.join(root, 'data'),
	runtime: path.join(root, 'data', 'runtime'),
	kubeconfig: path.join(root, 'kubeconfig'),
	adminToken: path.join(root, 'admin.token'),
	ca: path.join(root, 'ca.crt'),
	endpoints: path.join(root, 'endpoints.json'),
	log: path.join(root, 'troupe.log'),
});

/** `--home`, else TROUPE_HOME, else `.troupe` in the user's own folder; absolute. */
export const homeRoot = (flag: string | undefined, fromEnvironment: string | undefined, userHome: string): string =>
	path.resolve(flag ?? (fromEnvironment === undefined || fromEnvironment === '' ? path.join(userHome, '.troupe') : fromEnvironment));
