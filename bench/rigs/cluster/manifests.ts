// Manifests of pods and of sets of them.

/** Runs until it is told to end: SIGUSR1 with 0, SIGUSR2 with 7, SIGTERM with 0. Serves the ticks at which it started at $(POD_IP):8080. */
const obedient = `
const {createServer} = require('node:http');
const [, stat] = require('node:fs').readFileSync('/proc/self/stat', 'latin1').split(') ');
process.on('SIGUSR1', () => process.exit(0));
process.on('SIGUSR2', () => process.exit(7));
process.on('SIGTERM', () => process.exit(0));
createServer((_, response) => response.end(stat.split(' ')[19])).listen(8080, process.argv[1], () => console.log('serving'));
`;

const podIp = {name: 'POD_IP', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}};
const obedientContainer = {name: 'main', image: 'node', command: ['node', '-e', obedient], args: ['$(POD_IP)'], env: [podIp]};

export type PodOptions = {
	readonly [field: string]: unknown;
	readonly namespace?: string;
	readonly labels?: {readonly [name: string]: string};
};

/** A pod of one Node program; `more` goes to its spec. */
export const obedientPod = (name: string, {namespace, labels, ...more}: PodOptions = {}) => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name, ...(namespace === undefined ? {} : {namespace}), ...(labels === undefined ? {} : {labels})},
	spec: {terminationGracePeriodSeconds: 5, containers: [obedientContainer], ...more},
});

/** A pod of any command; cheap ones need no Node. */
export const podOf = (name: string, command: readonly string[], {namespace, labels, ...more}: PodOptions = {}) => ({
	...obedientPod(name, {...(namespace === undefined ? {} : {namespace}), ...(labels === undefined ? {} : {labels})}),
	spec: {terminationGracePeriodSeconds: 5, containers: [{name: 'main', image: 'any', command}], ...more},
});

/** A set of the cheapest pods there are. */
export const setOf = (name: string, replicas: number, {namespace, labels = {app: name}}: PodOptions = {}) => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name, ...(namespace === undefined ? {} : {namespace})},
	spec: {
		replicas,
		selector: {matchLabels: labels},
		template: {
			metadata: {labels},
			spec: {terminationGracePeriodSeconds: 5, containers: [{name: 'main', image: 'any', command: ['sleep', '100000']}]},
		},
	},
});

/** A set that only is there. */
export const emptySet = (name: string) => setOf(name, 0);
