// Names of the files in a cluster's home (TROUPE_HOME). Code that writes or reads one asks here.

import path from 'node:path';

export const homeOf = (root: string) => ({
	root,
	/** Everything a backup needs. */
	data: path.join(root, 'data'),
	/** What the process runtime keeps of its pods. */
	runtime: path.join(root, 'data', 'runtime'),
	/** What the Docker runtime keeps of its pods, and the Engine that they are on, once it has answered. */
	docker: path.join(root, 'data', 'docker'),
	engine: path.join(root, 'data', 'docker-engine'),
	/** Which pod has which GPU of this host. */
	gpus: path.join(root, 'data', 'gpus.json'),
	/** Of the process that serves traffic: its record and its socket. */
	network: path.join(root, 'data', 'network'),
	/** What claims of class local keep, if it is not elsewhere. */
	volumes: path.join(root, 'data', 'volumes'),
	/** The key that seals what the store keeps of secrets; every server of a cluster has the same. */
	clusterKey: path.join(root, 'data', 'cluster.key'),
	/** The key that seals the Secrets which this host keeps for its pods, and where it keeps them. */
	nodeKey: path.join(root, 'data', 'node.key'),
	secrets: path.join(root, 'data', 'secrets'),
	/** The code of functions that pods of this host are run from. */
	artifacts: path.join(root, 'data', 'artifacts'),
	/** Histories of runs of workflows that are over. */
	runs: path.join(root, 'data', 'runs'),
	/** A server's own certificate, sealed. */
	serverCertificate: path.join(root, 'data', 'server-certificate'),
	/** The lineage of the store that was served last: one that is empty now was lost. */
	lineage: path.join(root, 'data', 'lineage'),
	/** Where an agent keeps its cache, if it is elsewhere. */
	cachePlace: path.join(root, 'data', 'cache-place'),
	/** An agent's own login, and where its cluster is. */
	credential: path.join(root, 'data', 'credential'),
	/** Server, CA and token of the admin; mode 0600. */
	kubeconfig: path.join(root, 'kubeconfig'),
	adminToken: path.join(root, 'admin.token'),
	ca: path.join(root, 'ca.crt'),
	/** What a scraper shows at an agent's own door. */
	metricsToken: path.join(root, 'metrics.token'),
	/** Where the running cluster listens, and its pid. */
	endpoints: path.join(root, 'endpoints.json'),
	log: path.join(root, 'troupe.log'),
	/** Changes that were asked of actors by hand, and those that were refused; mode 0600. */
	audit: path.join(root, 'audit.log'),
	auditRefused: path.join(root, 'audit-refused.log'),
});

export type Home = Readonly<ReturnType<typeof homeOf>>;

/** An agent has a home of its own, so that it may live beside a server. */
const folderOf = (command: string): string => (command === 'agent' ? '.troupe-agent' : '.troupe');

/** The homes that a user has who says nothing else. */
export const usualHomes = (userHome: string): readonly string[] => ['up', 'agent'].map(command => path.join(userHome, folderOf(command)));

/** `--home`, else TROUPE_HOME, else `.troupe` (of an agent `.troupe-agent`) in the user's own folder; absolute. */
export const homeRoot = (command: string, flag: string | undefined, fromEnvironment: string | undefined, userHome: string): string =>
	path.resolve(
		flag ?? (fromEnvironment === undefined || fromEnvironment === '' ? path.join(userHome, folderOf(command)) : fromEnvironment),
	);
