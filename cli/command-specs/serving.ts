// Commands that start, stop and keep a cluster.

import {usualThresholds} from '../../api/eviction-thresholds.js';
import type {CommandSpec, FlagSpecs} from '../command.js';
import {tokenRoles} from '../../api/join.js';
import {limits} from '../../api/limits.js';
import {agentHomeFlags, clusterFlags, documentFlag, homeFlags} from '../command-line/flags.js';

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
const storeFlags: FlagSpecs = {
	store: {type: 'string', value: 'STORE', about: 'where objects are kept: level, memory or etcd://host:port,… (level)'},
	grace: {
		type: 'string',
		value: 'TIME',
		about: 'how long a silent node has in a new cluster, 1s to 10m (5s); troupe config set nodes.grace changes it',
	},
	new: {type: 'boolean', about: 'begin a new, empty cluster also where this home has served one whose store is gone'},
};
/** Of every command that has a node. */
const runtimeFlags: FlagSpecs = {
	runtime: {
		type: 'string',
		value: 'NAME',
		about: 'what runs pods: process, docker, simulated, or auto: processes, and Docker while it answers (auto)',
	},
	docker: {
		type: 'string',
		value: 'URL',
		about: 'the Docker Engine of this host, unix:///PATH or tcp://127.0.0.1:PORT (DOCKER_HOST, else unix:///var/run/docker.sock)',
	},
	'allow-privileged': {
		type: 'boolean',
		about:
			'pods may have the network of this host; those of Docker all that gives them the host: privileged, its namespaces, any capability',
	},
	'eviction-hard': {
		type: 'string',
		value: 'SIGNAL<LEAST,…',
		about: `below which this host is short of something, so that pods are ended, or none (${usualThresholds})`,
	},
	'warm-sandboxes': {
		type: 'number',
		value: 'N',
		about: `how many sandboxes are kept ready for pods of Docker, 0 for none (${limits.warmSandboxes}, from the first such pod on)`,
	},
};
/** Of every command that runs containers; `fallback` is said of the host's paths. */
const containerFlags = (fallback: string): FlagSpecs => ({
	'host-paths': {
		type: 'string',
		multiple: true,
		value: 'FOLDER',
		about: `what pods may mount of this host: all, none, or what is below FOLDER (${fallback})`,
	},
	volumes: {type: 'string', value: 'DIR', about: 'where volumes of claims of class local are (in the home)'},
	'pod-users': {
		type: 'string',
		value: 'FIRST-LAST',
		about: 'the users that pods get where this runs as root, one for each controller (65536 of their own for each home)',
	},
	router: {
		type: 'string',
		value: 'HOST:PORT',
		about: 'where routes of Dnses and Ingresses are served, http; off for none (127.0.0.1:8080)',
	},
	'router-tls': {
		type: 'string',
		value: 'HOST:PORT',
		about: 'the same over TLS, for hosts of which an Ingress names a certificate; off for none (127.0.0.1:8443)',
	},
	dns: {
		type: 'string',
		value: 'HOST:PORT',
		about:
			'where names of Services and hosts of Dnses are answered, as in 127.0.0.1:8053; off for nowhere (off; where pods have a network of their own, an address of loopback)',
	},
	network: {
		type: 'string',
		value: 'auto|routed|shared',
		about:
			'pods have a network of their own, routed between nodes, or share that of their node; auto: their own where it can be made, as root, with iproute2 and nftables (auto)',
	},
	overlay: {
		type: 'string',
		value: 'vxlan|host-gw|none',
		about: 'what leads to the pods of other nodes where they have a network of their own (vxlan)',
	},
	'node-address': {
		type: 'string',
		value: 'ADDRESS',
		about: 'the IPv4 address by which other nodes reach this one and its pods (that by which it reaches its server)',
	},
	'node-port-addresses': {
		type: 'string',
		value: 'RANGE,…',
		about:
			'addresses of this host, or ranges of them, at which node ports are served, besides 127.0.0.1 (that by which other hosts reach this one)',
	},
	'max-processes': {type: 'number', value: 'N', about: 'the most processes and threads of one container (1024)'},
});
/** Of every command that has actors. */
const faultsFlag: FlagSpecs = {
	faults: {type: 'boolean', about: 'let admins make faults here, such as a crash or a partition: troupe fault'},
};
const detachFlag = (noun: string): FlagSpecs => ({
	detach: {type: 'boolean', short: 'd', about: `return when the ${noun} is ready; troupe down stops it`},
});

export const servingCommands: readonly CommandSpec[] = [
	{
		name: 'up',
		summary: 'start a cluster in this process',
		usage: ['[--detach] [--home DIR] [--api HOST:PORT] [--web HOST:PORT] [--mqtt HOST:PORT]'],
		examples: ['troupe up', 'troupe up --detach', 'troupe up --api 127.0.0.1:0 --web 127.0.0.1:0 --mqtt 127.0.0.1:0'],
		flags: {
			...homeFlags,
			...doorFlags,
			...runtimeFlags,
			...storeFlags,
			node: {type: 'string', value: 'NAME', about: "name of this machine's node (its host name)"},
			'simulated-nodes': {type: 'number', value: 'N', about: 'how many nodes that only pretend to run pods (0)'},
			...containerFlags('all while this listens on loopback only, else none'),
			...faultsFlag,
			...detachFlag('cluster'),
		},
		ownSignals: true,
		load: () => import('../commands/up.js'),
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
		flags: {...homeFlags, ...doorFlags, ...storeFlags, ...faultsFlag, ...detachFlag('server')},
		ownSignals: true,
		load: () => import('../commands/server.js'),
	},
	{
		name: 'agent',
		summary: 'make this host a node of a cluster',
		usage: ['--join URL[,URL] --token TOKEN [--node NAME] [--home DIR] [--detach]', '[--home DIR]   (a host that has joined before)'],
		examples: ['troupe agent --join https://192.0.2.10:6443 --token troupe-join.… ', 'troupe agent'],
		flags: {
			...agentHomeFlags,
			join: {type: 'string', value: 'URL[,URL]', about: 'servers of the cluster, the API address of each'},
			token: {type: 'string', value: 'TOKEN', about: 'what troupe token create --join printed (TROUPE_TOKEN); needed once'},
			ca: {type: 'string', value: 'FILE', about: 'the certificate of the cluster, instead of the pin in the token'},
			node: {type: 'string', value: 'NAME', about: "name of this machine's node (its host name)"},
			...runtimeFlags,
			...containerFlags('all while all servers are on this host, else none'),
			'behind-nat': {
				type: 'boolean',
				about: 'other hosts do not reach this one: TCP to its pods is relayed over its connection to the control plane',
			},
			metrics: {
				type: 'string',
				value: 'HOST:PORT',
				about: 'where a Prometheus on this host may scrape this agent, on loopback, http (nowhere; a server tells of each node)',
			},
			'metrics-token-file': {
				type: 'string',
				value: 'FILE',
				about: 'the token that is to be shown there (metrics.token in the home, made where there is none)',
			},
			cache: {type: 'string', value: 'PLACE', about: 'where the node keeps what it was told: a folder or redis://… (in the home)'},
			new: {type: 'boolean', about: 'follow the control plane that answers, also when this node remembers another; its pods are replaced'},
			...faultsFlag,
			...detachFlag('agent'),
		},
		ownSignals: true,
		load: () => import('../commands/agent.js'),
	},
	{
		name: 'token',
		summary: 'make, list and take back logins of people, tools and hosts',
		usage: [
			'create NAME --role admin|edit|view|tool|metrics [--ttl TIME]',
			'create NAME --role ROLE [--publish FILTER]... [--subscribe FILTER]... [--messages-per-second N] [--bytes-per-second N]',
			'create --join [--ttl TIME]',
			'list',
			'delete NAME',
		],
		examples: [
			'troupe token create --join',
			'troupe token create ci --role edit --ttl 720h',
			'troupe token create prometheus --role metrics',
			"troupe token create gateway --role tool --publish 'sensors/#' --subscribe 'alerts/+'",
			'troupe token list',
			'troupe token delete ci',
		],
		flags: {
			...clusterFlags,
			join: {type: 'boolean', about: 'a token for hosts that are to join'},
			role: {type: 'string', value: 'ROLE', choices: tokenRoles, about: 'what may be done with it'},
			ttl: {type: 'string', value: 'TIME', about: 'how long it is good, such as 30m or 720h (--join: 24h, others: for ever)'},
			publish: {
				type: 'string',
				multiple: true,
				value: 'FILTER',
				about: "MQTT topics of users' own that it may publish to, such as sensors/#",
			},
			subscribe: {type: 'string', multiple: true, value: 'FILTER', about: 'those that it may read'},
			'messages-per-second': {type: 'string', value: 'N', about: 'what it may publish there and to functions; the rest waits'},
			'bytes-per-second': {type: 'string', value: 'N', about: 'the same, in bytes'},
			yes: {type: 'boolean', about: 'delete the login that asks, too'},
			output: {type: 'string', short: 'o', value: 'FORM', choices: ['wide', 'json', 'yaml'], about: 'wide (list), json or yaml'},
		},
		load: () => import('../commands/token.js'),
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
		load: () => import('../commands/broker.js'),
	},
	{
		name: 'down',
		summary: 'stop what runs for a home; pods run on unless --pods is given',
		usage: ['[--pods] [--home DIR]'],
		examples: ['troupe down', 'troupe down --pods'],
		flags: {...homeFlags, pods: {type: 'boolean', about: 'stop the programs of all pods too, also when nothing else runs'}},
		load: () => import('../commands/down.js'),
	},
	{
		name: 'backup',
		summary: 'write all that the cluster keeps into a file, while it runs',
		usage: ['FILE [--force]'],
		examples: ['troupe backup monday.troupe'],
		flags: {...clusterFlags, force: {type: 'boolean', about: 'replace the file if it is there'}},
		load: () => import('../commands/backup.js'),
	},
	{
		name: 'restore',
		summary: 'fill the empty store of a new cluster from a backup',
		usage: ['FILE [--key FILE] [--home DIR] [--store STORE]', '--salvage [--home DIR]   (what can be saved of a damaged store)'],
		examples: [
			'troupe restore monday.troupe --key cluster.key',
			'troupe restore monday.troupe --home /srv/troupe --store etcd://192.0.2.20:2379',
			'troupe restore --salvage',
		],
		flags: {
			...homeFlags,
			salvage: {type: 'boolean', about: 'without a backup: save what can be saved of the damaged store in the home, and say what is lost'},
			key: {type: 'string', value: 'FILE', about: 'data/cluster.key of the cluster that the backup is of (the one in the home)'},
			store: {type: 'string', value: 'STORE', about: 'what is to be filled: level or etcd://host:port,… (level)'},
		},
		load: () => import('../commands/restore.js'),
	},
	{
		name: 'config',
		summary: 'show or change settings of the running cluster',
		usage: ['get [KEY]', 'set KEY VALUE'],
		examples: [
			'troupe config get',
			'troupe config set scheduler.strategy round-robin',
			'troupe config set runtime.default docker',
			"troupe config set workflows.httpHosts 'api.example.com,*.example.org'",
			'troupe config set slurm.hosts login.hpc.example',
			'troupe config set autoscaling.prometheusHosts prometheus.example.com:9090',
		],
		flags: {...clusterFlags, ...documentFlag},
		load: () => import('../commands/config.js'),
	},
	{
		name: 'completion',
		summary: 'print the script that makes a shell complete words',
		usage: ['bash|zsh|fish'],
		examples: ['source <(troupe completion bash)', 'source <(troupe completion zsh)', 'troupe completion fish | source'],
		flags: homeFlags,
		load: () => import('../commands/completion.js'),
	},
	{
		name: 'version',
		summary: 'show the versions of this command and of the cluster',
		usage: ['[--client]'],
		examples: ['troupe version'],
		flags: {...clusterFlags, client: {type: 'boolean', about: 'only of this command; asks no cluster'}, ...documentFlag},
		load: () => import('../commands/version.js'),
	},
	{
		name: 'uninstall',
		summary: 'stop the cluster and its pods and remove all it keeps',
		usage: ['[--yes] [--home DIR]'],
		examples: ['troupe uninstall'],
		flags: {...homeFlags, yes: {type: 'boolean', short: 'y', about: 'do not ask'}},
		load: () => import('../commands/uninstall.js'),
	},
];
