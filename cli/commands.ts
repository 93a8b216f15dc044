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

/** Of every command that listens. */
const doorFlags: FlagSpecs = {
	api: {type: 'string', value: 'HOST:PORT', about: 'where the API listens, https, and MQTT of agents (127.0.0.1:6443)'},
	web: {type: 'string', value: 'HOST:PORT', about: 'where health and MQTT over WebSocket are; off loopback https (127.0.0.1:7070)'},
	mqtt: {type: 'string', value: 'HOST:PORT', about: 'where MQTT for tools listens; off loopback with TLS (127.0.0.1:1883)'},
	advertise: {type: 'string', value: 'HOST[:PORT]', about: 'how other hosts reach the API, when that is not where it listens'},
	broker: {
		type: 'string',
		value: 'URL',
		about: 'a Mosquitto where actors and tools meet: mqtt[s]://control:PASSWORD@HOST:PORT (TROUPE_BROKER)',
	},
};
const storeFlag: FlagSpecs = {
	store: {type: 'string', value: 'STORE', about: 'where objects are kept: level, memory or etcd://host:port,… (level)'},
};
const runtimeFlag: FlagSpecs = {
	runtime: {type: 'string', value: 'NAME', about: 'what runs containers: auto, process or simulated (auto)'},
};
const detachFlag = (noun: string): FlagSpecs => ({
	detach: {type: 'boolean', short: 'd', about: `return when the ${noun} is ready; troupe down stops it`},
});

export const commands: readonly CommandSpec[] = [
	{
		name: 'up',
		summary: 'start a cluster in this process',
		usage: ['[--detach] [--home DIR] [--api HOST:PORT] [--web HOST:PORT] [--mqtt HOST:PORT]'],
		examples: ['troupe up', 'troupe up --detach', 'troupe up --api 127.0.0.1:0 --web 127.0.0.1:0 --mqtt 127.0.0.1:0'],
		flags: {
			...homeFlags,
			...doorFlags,
			...runtimeFlag,
			docker: {type: 'string', value: 'URL', about: 'comes in a later version'},
			...storeFlag,
			node: {type: 'string', value: 'NAME', about: "name of this machine's node (its host name)"},
			'simulated-nodes': {type: 'number', value: 'N', about: 'how many nodes that only pretend to run pods (0)'},
			'host-paths': {type: 'string', multiple: true, value: 'PREFIX', about: 'comes in a later version'},
			...detachFlag('cluster'),
		},
		ownSignals: true,
		load: () => import('./commands/up.js'),
	},
	{
		name: 'server',
		summary: 'start a control plane that agents join from other hosts',
		usage: ['[--detach] [--home DIR] [--api HOST:PORT] [--advertise HOST[:PORT]] [--store etcd://HOST:PORT,…]'],
		examples: [
			'troupe server --api 0.0.0.0:6443',
			'troupe server --api 0.0.0.0:6443 --advertise 192.0.2.10',
			'troupe server --store etcd://192.0.2.20:2379',
		],
		flags: {...homeFlags, ...doorFlags, ...storeFlag, ...detachFlag('server')},
		ownSignals: true,
		load: () => import('./commands/server.js'),
	},
	{
		name: 'agent',
		summary: 'make this host a node of a cluster',
		usage: ['--join URL[,URL] --token TOKEN [--node NAME] [--home DIR] [--detach]', '[--home DIR]   (a host that has joined before)'],
		examples: ['troupe agent --join https://192.0.2.10:6443 --token troupe-join.… ', 'troupe agent'],
		flags: {
			...homeFlags,
			join: {type: 'string', value: 'URL[,URL]', about: 'servers of the cluster, the API address of each'},
			token: {type: 'string', value: 'TOKEN', about: 'what troupe token create --join printed (TROUPE_TOKEN); needed once'},
			ca: {type: 'string', value: 'FILE', about: 'the certificate of the cluster, instead of the pin in the token'},
			node: {type: 'string', value: 'NAME', about: "name of this machine's node (its host name)"},
			...runtimeFlag,
			cache: {type: 'string', value: 'PLACE', about: 'where the node keeps what it was told: a folder or redis://… (in the home)'},
			...detachFlag('agent'),
		},
		ownSignals: true,
		load: () => import('./commands/agent.js'),
	},
	{
		name: 'token',
		summary: 'make, list and take back logins of people, tools and hosts',
		usage: ['create NAME --role admin|edit|view|tool [--ttl TIME]', 'create --join [--ttl TIME]', 'list', 'delete NAME'],
		examples: [
			'troupe token create --join',
			'troupe token create ci --role edit --ttl 720h',
			'troupe token list',
			'troupe token delete ci',
		],
		flags: {
			...clusterFlags,
			join: {type: 'boolean', about: 'a token for hosts that are to join'},
			role: {type: 'string', value: 'ROLE', choices: ['admin', 'edit', 'view', 'tool'], about: 'what may be done with it'},
			ttl: {type: 'string', value: 'TIME', about: 'how long it is good, such as 30m or 720h (--join: 24h, others: for ever)'},
			yes: {type: 'boolean', about: 'delete the login that asks, too'},
			...documentFlag,
		},
		load: () => import('./commands/token.js'),
	},
	{
		name: 'broker',
		summary: 'make the files of a Mosquitto where actors and tools meet',
		usage: ['config [DIR] [--listen HOST:PORT] [--force]'],
		examples: [
			'troupe broker config',
			'troupe broker config /etc/mosquitto/troupe',
			'troupe broker config /etc/mosquitto/troupe --listen 0.0.0.0:8883',
		],
		flags: {
			...clusterFlags,
			listen: {type: 'string', value: 'HOST:PORT', about: "where it is to listen, when that is not the address in the server's --broker"},
			force: {type: 'boolean', about: 'replace files that something else made'},
		},
		load: () => import('./commands/broker.js'),
	},
	{
		name: 'down',
		summary: 'stop what runs for a home; pods run on unless --pods is given',
		usage: ['[--pods]'],
		examples: ['troupe down', 'troupe down --pods'],
		flags: {...homeFlags, pods: {type: 'boolean', about: 'stop the programs of all pods too, also when nothing else runs'}},
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
		name: 'backup',
		summary: 'write all that the cluster keeps into a file, while it runs',
		usage: ['FILE [--force]'],
		examples: ['troupe backup monday.troupe'],
		flags: {...clusterFlags, force: {type: 'boolean', about: 'replace the file if it is there'}},
		load: () => import('./commands/backup.js'),
	},
	{
		name: 'restore',
		summary: 'fill the empty store of a new cluster from a backup',
		usage: ['FILE [--key FILE] [--home DIR] [--store STORE]'],
		examples: [
			'troupe restore monday.troupe --key cluster.key',
			'troupe restore monday.troupe --home /srv/troupe --store etcd://192.0.2.20:2379',
		],
		flags: {
			...homeFlags,
			key: {type: 'string', value: 'FILE', about: 'data/cluster.key of the cluster that the backup is of (the one in the home)'},
			...storeFlag,
		},
		load: () => import('./commands/restore.js'),
	},
	{
		name: 'node',
		summary: 'say that a silent node is lost, so that its pods are replaced',
		usage: ['confirm-lost NAME'],
		examples: ['troupe node confirm-lost node-a'],
		flags: clusterFlags,
		load: () => import('./commands/node.js'),
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
