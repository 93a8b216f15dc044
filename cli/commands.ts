// The one list of commands: names, help, flags, and where the work is done. Each command's own file is loaded when it runs.

import type {CommandSpec, FlagSpecs} from './command.js';

const helpFlag: FlagSpecs = {help: {type: 'boolean', short: 'h', about: 'show what this command does and takes'}};

/** Of every command. */
const homeFlags: FlagSpecs = {
	...helpFlag,
	home: {type: 'string', value: 'DIR', about: 'where the cluster keeps everything (TROUPE_HOME, ~/.troupe)'},
};

/** Of every command that talks to a cluster. */
const clusterFlags: FlagSpecs = {
	...homeFlags,
	kubeconfig: {type: 'string', value: 'FILE', about: 'which cluster (KUBECONFIG, TROUPE_HOME/kubeconfig)'},
};

const namespaceFlag: FlagSpecs = {
	namespace: {type: 'string', short: 'n', value: 'NAME', about: "namespace (the kubeconfig's, else default)"},
};
const selectorFlag: FlagSpecs = {selector: {type: 'string', short: 'l', value: 'QUERY', about: 'label query, such as app=web,tier!=db'}};
const allNamespacesFlag: FlagSpecs = {'all-namespaces': {type: 'boolean', short: 'A', about: 'of every namespace'}};
const outputFlag: FlagSpecs = {
	output: {type: 'string', short: 'o', value: 'FORM', choices: ['wide', 'json', 'yaml', 'name'], about: 'wide, json, yaml or name'},
};
const documentFlag: FlagSpecs = {
	output: {type: 'string', short: 'o', value: 'FORM', choices: ['json', 'yaml'], about: 'json or yaml'},
};
const timeoutFlag: FlagSpecs = {timeout: {type: 'string', value: 'TIME', about: 'how long to wait at most, such as 30s or 2m'}};

export const commands: readonly CommandSpec[] = [
	{
		name: 'up',
		summary: 'start a cluster in this process',
		usage: ['[--detach] [--home DIR] [--api HOST:PORT] [--web HOST:PORT] [--mqtt HOST:PORT]'],
		examples: ['troupe up', 'troupe up --detach', 'troupe up --api 127.0.0.1:0 --web 127.0.0.1:0 --mqtt 127.0.0.1:0'],
		flags: {
			...homeFlags,
			api: {type: 'string', value: 'HOST:PORT', about: 'where the API listens, https (127.0.0.1:6443)'},
			web: {type: 'string', value: 'HOST:PORT', about: 'where health and MQTT over WebSocket are, http (127.0.0.1:7070)'},
			mqtt: {type: 'string', value: 'HOST:PORT', about: 'where MQTT listens (127.0.0.1:1883)'},
			runtime: {type: 'string', value: 'NAME', about: 'what runs containers: auto, process or simulated (auto)'},
			docker: {type: 'string', value: 'URL', about: 'comes in a later version'},
			store: {type: 'string', value: 'NAME', about: 'where objects are kept: level or memory (level)'},
			broker: {type: 'string', value: 'URL', about: 'comes in a later version'},
			node: {type: 'string', value: 'NAME', about: "name of this machine's node (its host name)"},
			'simulated-nodes': {type: 'number', value: 'N', about: 'how many nodes that only pretend to run pods (0)'},
			'host-paths': {type: 'string', multiple: true, value: 'PREFIX', about: 'comes in a later version'},
			detach: {type: 'boolean', short: 'd', about: 'return when the cluster is ready; troupe down stops it'},
		},
		ownSignals: true,
		load: () => import('./commands/up.js'),
	},
	{
		name: 'down',
		summary: 'stop the cluster; pods run on unless --pods is given',
		usage: ['[--pods]'],
		examples: ['troupe down', 'troupe down --pods'],
		flags: {...homeFlags, pods: {type: 'boolean', about: 'stop the programs of all pods too, also when no cluster runs'}},
		load: () => import('./commands/down.js'),
	},
	{
		name: 'apply',
		summary: 'create or change objects from files',
		usage: ['-f FILE|DIR|- [-f …] [-n NAMESPACE]'],
		examples: ['troupe apply -f examples/hello.yaml', 'troupe apply -f manifests/', 'cat pod.yaml | troupe apply -f -'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			filename: {type: 'string', short: 'f', multiple: true, value: 'FILE', about: 'a YAML or JSON file, a folder of them, or - for stdin'},
			'dry-run': {type: 'boolean', about: 'check everything, change nothing'},
		},
		load: () => import('./commands/apply.js'),
	},
	{
		name: 'get',
		summary: 'show objects in a table, or whole with -o',
		usage: ['KIND[,KIND…] [NAME…]', 'KIND/NAME…', 'all'],
		examples: ['troupe get pods', 'troupe get pods -A -o wide', 'troupe get rs/hello -o yaml', 'troupe get pods -l app=hello -w'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			...allNamespacesFlag,
			...selectorFlag,
			'field-selector': {type: 'string', value: 'QUERY', about: 'field query, such as status.phase=Running'},
			...outputFlag,
			watch: {type: 'boolean', short: 'w', about: 'go on and show each change'},
			'ignore-not-found': {type: 'boolean', about: 'a missing object is no error'},
		},
		load: () => import('./commands/get.js'),
	},
	{
		name: 'describe',
		summary: 'show objects in full, with what happened to them',
		usage: ['KIND [NAME…]', 'KIND/NAME…'],
		examples: ['troupe describe pod hello-1', 'troupe describe node'],
		flags: {...clusterFlags, ...namespaceFlag, ...allNamespacesFlag, ...selectorFlag},
		load: () => import('./commands/describe.js'),
	},
	{
		name: 'delete',
		summary: 'delete objects and wait until they are gone',
		usage: ['KIND NAME…', 'KIND/NAME…', 'KIND -l QUERY', 'KIND --all', '-f FILE|DIR|-'],
		examples: ['troupe delete pod web', 'troupe delete -f examples/hello.yaml', 'troupe delete pods --all --now'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			...selectorFlag,
			filename: {type: 'string', short: 'f', multiple: true, value: 'FILE', about: 'delete what these files name'},
			all: {type: 'boolean', about: 'every object of the kind in the namespace'},
			'grace-period': {type: 'number', value: 'SECONDS', about: 'time to end by itself; 0 only with --force'},
			now: {type: 'boolean', about: 'the same as --grace-period 1'},
			force: {type: 'boolean', about: 'remove the record at once, whatever still runs'},
			wait: {type: 'boolean', about: 'wait until the objects are gone (true)'},
			...timeoutFlag,
			cascade: {
				type: 'string',
				value: 'HOW',
				choices: ['background', 'foreground', 'orphan'],
				about: 'what becomes of dependents: background, foreground or orphan (background)',
			},
			'ignore-not-found': {type: 'boolean', about: 'a missing object is no error'},
		},
		load: () => import('./commands/delete.js'),
	},
	{
		name: 'scale',
		summary: 'set how many replicas there should be',
		usage: ['KIND/NAME… --replicas N', 'KIND NAME… --replicas N'],
		examples: ['troupe scale rs/hello --replicas 5', 'troupe scale rs hello --replicas 50 --wait'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			replicas: {type: 'number', value: 'N', about: 'how many'},
			wait: {type: 'boolean', about: 'wait until they are ready'},
			...timeoutFlag,
		},
		load: () => import('./commands/scale.js'),
	},
	{
		name: 'logs',
		summary: 'show what a container wrote',
		usage: ['POD [-c CONTAINER] [-f] [--tail N] [--previous]'],
		examples: ['troupe logs hello-1', 'troupe logs -f hello-1', 'troupe logs crash --previous'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			container: {type: 'string', short: 'c', value: 'NAME', about: 'which container (the first)'},
			follow: {type: 'boolean', short: 'f', about: 'go on with what is written from now on'},
			tail: {type: 'number', value: 'N', about: 'only the last N lines'},
			previous: {type: 'boolean', short: 'p', about: 'of the run before the last restart'},
		},
		load: () => import('./commands/logs.js'),
	},
	{
		name: 'events',
		summary: 'show what happened and why',
		usage: ['[-A] [--for KIND/NAME]'],
		examples: ['troupe events', 'troupe events --for rs/hello', 'troupe events -A'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			...allNamespacesFlag,
			for: {type: 'string', value: 'KIND/NAME', about: 'only about this object'},
			...documentFlag,
		},
		load: () => import('./commands/events.js'),
	},
	{
		name: 'tree',
		summary: 'draw the actors of every system, with their states',
		usage: ['[SYSTEM] [--depth N]'],
		examples: ['troupe tree', 'troupe tree control --depth 2'],
		flags: {
			...clusterFlags,
			depth: {type: 'number', value: 'N', about: 'how many levels below the root (all)'},
			...documentFlag,
		},
		load: () => import('./commands/tree.js'),
	},
	{
		name: 'why',
		summary: 'tell how an object came to be as it is',
		usage: ['KIND NAME', 'KIND/NAME'],
		examples: ['troupe why pod hello-1', 'troupe why rs/hello'],
		flags: {
			...clusterFlags,
			...namespaceFlag,
			...documentFlag,
		},
		load: () => import('./commands/why.js'),
	},
	{
		name: 'config',
		summary: 'show or change settings of the running cluster',
		usage: ['get [KEY]', 'set KEY VALUE'],
		examples: ['troupe config get', 'troupe config set scheduler.strategy round-robin'],
		flags: clusterFlags,
		load: () => import('./commands/config.js'),
	},
	{
		name: 'version',
		summary: 'show the versions of this command and of the cluster',
		usage: ['[--client]'],
		examples: ['troupe version'],
		flags: {
			...clusterFlags,
			client: {type: 'boolean', about: 'only of this command; asks no cluster'},
			...documentFlag,
		},
		load: () => import('./commands/version.js'),
	},
	{
		name: 'uninstall',
		summary: 'stop the cluster and its pods and remove all it keeps',
		usage: ['[--yes]'],
		examples: ['troupe uninstall'],
		flags: {...homeFlags, yes: {type: 'boolean', short: 'y', about: 'do not ask'}},
		load: () => import('./commands/uninstall.js'),
	},
];

export const findCommand = (name: string): CommandSpec | undefined => commands.find(command => command.name === name);
