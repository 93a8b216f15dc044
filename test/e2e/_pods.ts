// Pods to test with, and what an API object says of the program behind it.

import type {ApiObject} from '../../api/object.js';
import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import type {Client} from '../../cli/client.js';
import {startTimeOf} from './_processes.js';
import {eventually, until} from './_waiting.js';

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

export const containerOf = (object: ApiObject | undefined): ContainerStatus | undefined =>
	(object as Pod | undefined)?.status?.containerStatuses?.[0];
export const phaseOf = (object: ApiObject | undefined): string | undefined => (object as Pod | undefined)?.status?.phase;

/** Of the program that runs now; undefined when none does. */
export function pidOf(object: ApiObject | undefined): number | undefined {
	const container = containerOf(object);
	if (container?.state?.running === undefined) return undefined;
	const pid = Number(/^process:\/\/(\d+)/.exec(container.containerID ?? '')?.[1]);
	return Number.isSafeInteger(pid) ? pid : undefined;
}

export const isReady = (object: ApiObject | undefined): boolean => containerOf(object)?.ready === true && pidOf(object) !== undefined;

/** The process ids of these pods once all of them run. */
export const pidsWhenRunning = (client: Client, ...names: readonly string[]): Promise<readonly number[]> =>
	until(client, 'pods', `${names.join(', ')} to run`, pods => {
		const pids = names.flatMap(name => (isReady(pods.get(name)) ? [pidOf(pods.get(name)) ?? 0] : []));
		return pids.length === names.length ? pids : undefined;
	});

/** Resolves when an obedient pod answers as this process: a program takes a moment until it listens. */
export async function untilAnswers(object: ApiObject | undefined, pid: number | undefined): Promise<void> {
	const podIP = (object as Pod | undefined)?.status?.podIP ?? '';
	const startTime = pid === undefined ? '' : startTimeOf(pid);
	let answer = '';
	const ask = async (): Promise<boolean> => {
		try {
			const response = await fetch(`http://${podIP}:8080/`, {headers: {connection: 'close'}, signal: AbortSignal.timeout(10_000)});
			answer = await response.text();
		} catch (error) {
			answer = String(error);
		}
		return answer === startTime;
	};
	await eventually(`${object?.metadata.name} answers as ${pid}`, ask, () => answer);
}
