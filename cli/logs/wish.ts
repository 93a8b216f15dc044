// What `troupe logs` is asked for: which pods, which of their containers, and what of their output.

import {parseDuration} from '../../api/duration.js';
import {functionLabel} from '../../api/function-instance.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Job} from '../../api/kinds/job.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {limits} from '../../api/limits.js';
import type {LabelSelector} from '../../api/selector.js';
import {formatSelector} from '../../api/selector-text.js';
import type {Client, Query} from '../client.js';
import {type Flags, type Invocation, usageError} from '../command.js';
import {getOne} from '../cluster/lists.js';
import {readTarget, resourceOf, type Resource} from '../cluster/resources.js';

/** Pods by one list of the API. */
export type PodSearch = {
	readonly query: Query;
	/** Whether one that was found is meant. */
	readonly isMeant: (pod: Pod) => boolean;
	/** As a note names it: `pod "web"`, `pods that match app=web`. */
	readonly what: string;
	/** Of one pod. */
	readonly name: string | undefined;
};

export type LogWish = {
	readonly container: string | undefined;
	readonly allContainers: boolean;
	readonly follow: boolean;
	readonly timestamps: boolean;
	/** Control characters as they are, also on a terminal. */
	readonly raw: boolean;
	/** Parameters that say what of the output is wanted, at the first look at a container. */
	readonly from: Query;
	readonly previous: boolean;
	/** Undefined: where there may be several. */
	readonly prefix: boolean | undefined;
	readonly atATime: number;
};

type Target = {readonly resource: Resource; readonly name: string};

/** Throws ERR_USAGE. */
export function wishOf({flags}: Invocation): LogWish {
	const [container, allContainers] = [flags.text('container'), flags.on('all-containers')];
	if (container !== undefined && allContainers) throw usageError('either -c or --all-containers');
	const [follow, previous] = [flags.on('follow'), flags.on('previous')];
	if (follow && previous) throw usageError('either -f or --previous: what is over is not followed');
	const atATime = flags.number('max-log-requests') ?? limits.logRequests;
	if (!Number.isSafeInteger(atATime) || atATime < 1) throw usageError(`--max-log-requests must be a whole number from 1, got ${atATime}`);
	const [timestamps, raw] = [flags.on('timestamps'), flags.on('raw')];
	return {container, allContainers, follow, timestamps, raw, from: fromOf(flags), previous, prefix: flags.given('prefix'), atATime};
}

function fromOf(flags: Flags): Query {
	const [tail, since, sinceTime] = [flags.number('tail'), flags.text('since'), flags.text('since-time')];
	if (tail !== undefined && (!Number.isSafeInteger(tail) || tail < -1))
		throw usageError(`--tail must be a whole number of lines, got ${tail}`);
	if (since !== undefined && sinceTime !== undefined) throw usageError('either --since or --since-time');
	const ms = since === undefined ? undefined : parseDuration(since);
	if (since !== undefined && (ms === undefined || ms <= 0))
		throw usageError(`--since must be a time such as 5m, 90s or 2h, got "${since}"`);
	if (sinceTime !== undefined && Number.isNaN(Date.parse(sinceTime)))
		throw usageError(`--since-time must be a time such as 2026-01-31T12:00:00Z, got "${sinceTime}"`);
	return {
		...(tail === undefined || tail < 0 ? {} : {tailLines: tail}),
		...(ms === undefined ? {} : {sinceSeconds: Math.max(1, Math.ceil(ms / 1_000))}),
		...(sinceTime === undefined ? {} : {sinceTime: new Date(sinceTime).toISOString()}),
	};
}

/** `POD…`, `pod POD`, `rs/NAME`, `job/NAME`, `function/NAME`, or `-l QUERY`. Throws ERR_USAGE, and what the API says of what has the pods. */
export async function searchesOf({inputs, flags}: Invocation, client: Client, namespace: string): Promise<readonly PodSearch[]> {
	const selector = flags.text('selector');
	if (selector !== undefined && inputs.length > 0) throw usageError('either pods by name or -l');
	if (selector !== undefined)
		return [{query: {labelSelector: selector}, isMeant: () => true, what: `pods that match ${selector}`, name: undefined}];
	if (inputs.length === 0) throw usageError('which pod? as in: troupe logs hello-1, troupe logs -l app=hello, troupe logs rs/hello');
	return Promise.all(targetsOf(inputs).map(target => searchOf(client, namespace, target)));
}

function targetsOf(inputs: readonly string[]): readonly Target[] {
	const [first = '', second, ...more] = inputs;
	const isKind = second !== undefined && !inputs.some(word => word.includes('/')) && isKindWord(first);
	const words = isKind ? [second, ...more].map(name => `${first}/${name}`) : inputs;
	return words.map(word => {
		if (!word.includes('/')) return {resource: resourceOf('pods'), name: word};
		const {resource, names} = readTarget(word);
		return {resource, name: names[0] ?? ''};
	});
}

const kindWords: ReadonlySet<string> = new Set([
	...['pod', 'pods', 'po', 'rs', 'replicaset', 'replicasets', 'job', 'jobs', 'deploy', 'deployment', 'deployments'],
	...['function', 'functions', 'fn'],
]);

const isKindWord = (word: string): boolean => kindWords.has(word.toLowerCase());

async function searchOf(client: Client, namespace: string, {resource, name}: Target): Promise<PodSearch> {
	switch (resource.kind) {
		case 'Pod':
			return {query: {fieldSelector: `metadata.name=${name}`}, isMeant: () => true, what: `pod "${name}"`, name};
		case 'ReplicaSet':
		case 'Job': {
			const owner = (await getOne(client, resource, namespace, name)) as ReplicaSet | Job;
			const {uid} = owner.metadata;
			const isMeant = ({metadata: {ownerReferences = []}}: Pod): boolean => ownerReferences.some(each => each.uid === uid);
			const what = `pods of ${resource.kind === 'ReplicaSet' ? 'rs' : 'job'}/${name}`;
			return {query: {labelSelector: formatSelector(owner.spec?.selector ?? {})}, isMeant, what, name: undefined};
		}
		case 'Deployment': {
			const {spec} = (await getOne(client, resource, namespace, name)) as Deployment;
			return ofVersions(spec?.selector ?? {}, `deployment/${name}`);
		}
		case 'Function':
			await getOne(client, resource, namespace, name);
			return ofVersions({matchLabels: {[functionLabel]: name}}, `function/${name}`);
		default:
			throw usageError(
				`logs are those of pods, or of the pods of a replicaset, deployment, job or function, not of a ${resource.singular}; troupe get pods lists them`,
			);
	}
}

/** Pods of all versions of one object, also of those that are still to come. */
const ofVersions = (selector: LabelSelector, owner: string): PodSearch => ({
	query: {labelSelector: formatSelector(selector)},
	isMeant: ({metadata: {ownerReferences = []}}) => ownerReferences.some(({kind}) => kind === 'ReplicaSet'),
	what: `pods of ${owner}`,
	name: undefined,
});
