// Flags that several commands take.

import type {FlagSpecs} from '../command.js';

const helpFlag: FlagSpecs = {help: {type: 'boolean', short: 'h', about: 'show what this command does and takes'}};

const homeFlag = (noun: string, fallback: string): FlagSpecs => ({
	home: {type: 'string', value: 'DIR', about: `where the ${noun} keeps everything (TROUPE_HOME, ${fallback})`},
});

/** Of every command. */
export const homeFlags: FlagSpecs = {...helpFlag, ...homeFlag('cluster', '~/.troupe')};
/** Of `agent`. */
export const agentHomeFlags: FlagSpecs = {...helpFlag, ...homeFlag('agent', '~/.troupe-agent')};

/** Of every command that talks to a cluster. */
export const clusterFlags: FlagSpecs = {
	...homeFlags,
	kubeconfig: {type: 'string', value: 'FILE', about: 'which cluster (the home, then KUBECONFIG)'},
};

export const namespaceFlag: FlagSpecs = {
	namespace: {type: 'string', short: 'n', value: 'NAME', about: "namespace (the kubeconfig's, else default)"},
};
/** Of every command about objects. */
export const namespacedFlags: FlagSpecs = {...clusterFlags, ...namespaceFlag};
export const selectorFlag: FlagSpecs = {
	selector: {type: 'string', short: 'l', value: 'QUERY', about: 'label query, such as app=web,tier!=db'},
};
export const allNamespacesFlag: FlagSpecs = {'all-namespaces': {type: 'boolean', short: 'A', about: 'of every namespace'}};
/** Of commands about all objects that are found. */
export const searchFlags: FlagSpecs = {...namespacedFlags, ...allNamespacesFlag, ...selectorFlag};
export const outputFlag: FlagSpecs = {
	output: {type: 'string', short: 'o', value: 'FORM', choices: ['wide', 'json', 'yaml', 'name'], about: 'wide, json, yaml or name'},
};
export const documentFlag: FlagSpecs = {
	output: {type: 'string', short: 'o', value: 'FORM', choices: ['json', 'yaml'], about: 'json or yaml'},
};
/** Of commands that write. */
export const writeFlags: FlagSpecs = {
	'dry-run': {
		type: 'string',
		value: 'HOW',
		bare: 'true',
		choices: ['none', 'client', 'server', 'true'],
		about: 'check everything, change nothing: by the cluster (server, also alone) or without one (client)',
	},
	output: {type: 'string', short: 'o', value: 'FORM', choices: ['json', 'yaml', 'name'], about: 'what is written, as json, yaml or name'},
};
/** Of commands that read compose files. */
export const profileFlag: FlagSpecs = {
	profile: {type: 'string', multiple: true, value: 'NAME', about: 'of a compose file: services of this profile as well'},
};
/** Of commands that may find objects in files. */
export const filesFlags: FlagSpecs = {
	filename: {type: 'string', short: 'f', multiple: true, value: 'FILE', about: 'a YAML or JSON file, a folder of them, or - for stdin'},
	recursive: {type: 'boolean', short: 'R', about: 'look into folders of folders, too'},
	...profileFlag,
};
/** Of commands that read manifests. */
export const manifestFlags: FlagSpecs = {...namespacedFlags, ...filesFlags};
export const timeoutFlag: FlagSpecs = {timeout: {type: 'string', value: 'TIME', about: 'how long to wait at most, such as 30s or 2m'}};
