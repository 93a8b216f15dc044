// `describe function`: what is called, by which versions and instances, and how to call it. Pure.

import {isConditionTrue} from '../../api/conditions.js';
import {shareOf, type Share} from '../../api/function-traffic.js';
import type {DeliveryCounts} from '../../api/function-figures.js';
import {isOfDocker, runtimeOf, type FunctionObject, type FunctionSpec, type FunctionTrigger} from '../../api/kinds/function.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {revisionNumber} from '../rollout/deployment.js';
import type {WidthOf} from '../screen/table.js';
import {amounts, entriesText, sourceText} from './container.js';
import {drawConditions, drawFields, drawSection, metadataFields} from './lines.js';
import {triggerSource} from './triggers.js';

/** What it owns. */
export type FunctionParts = {
	readonly versions: readonly ReplicaSet[];
	readonly instances: readonly Pod[];
	/** What was delivered to it, by trigger. */
	readonly deliveries: readonly DeliveryCounts[];
};

/** Everything but the events. */
export function describeFunction(object: FunctionObject, parts: FunctionParts, nowMs: number, widthOf: WidthOf): string {
	const {spec = {}, status = {}, metadata} = object;
	const {desired = 0, instances = 0, ready = 0, revision} = status;
	const place = `${metadata.namespace ?? ''}/${metadata.name}`;
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['Runtime', runtimeOf(spec) ?? '<unknown>'],
		['Command', spec.command],
		['Class', isOfDocker(spec) ? 'docker' : undefined],
		['Image', spec.image],
		['Source Folder', spec.userUploadFilePath],
		['Artifact', spec.artifact ?? '<none>'],
		['Concurrency', spec.concurrency === undefined ? undefined : `${spec.concurrency} calls at an instance`],
		['Max', spec.max === undefined ? undefined : `${spec.max} instances`],
		['Idle', spec.idle],
		['Timeout', spec.timeout],
		['Limits', amounts(spec.resources?.limits)],
		['Requests', amounts(spec.resources?.requests)],
		['Environment From', spec.envFrom?.map(entriesText)],
		['Environment', environmentLines(spec)],
		['Instances', `${desired} desired | ${instances} total | ${ready} ready`],
		['Revision', String(revision ?? '<none>')],
		['Traffic', spec.traffic?.map(shareLine)],
		['Call', [`POST /functions/${place}`, `troupe execute ${place} '{}'`]],
	]);
	return (
		fields +
		drawSection('Versions', ['REVISION', 'NAME', 'READY'], versionRows(parts), widthOf) +
		drawSection('Instances', ['NAME', 'READY', 'NODE'], parts.instances.map(instanceRow), widthOf) +
		drawSection('Triggers', ['NAME', 'SOURCE', ...deliveryHeads], triggerRows(spec.triggers ?? [], parts.deliveries), widthOf) +
		drawConditions(status.conditions, widthOf)
	);
}

/** Names, and where values come from; a value that is written here may be secret all the same. */
const environmentLines = ({env}: FunctionSpec): readonly string[] | undefined =>
	env?.map(({name, valueFrom}) => (valueFrom === undefined ? name : `${name}: ${sourceText(valueFrom)}`));

/** Newest first. */
const versionRows = ({versions}: FunctionParts): readonly (readonly string[])[] =>
	[...versions]
		.sort((a, b) => revisionNumber(b) - revisionNumber(a))
		.map(set => [String(revisionNumber(set)), set.metadata.name, `${set.status?.readyReplicas ?? 0}/${set.spec?.replicas ?? 0}`]);

const deliveryHeads = ['ACCEPTED', 'WAITING', 'DELIVERED', 'RETRIED', 'FAILED'];

/** Those that it has, then what else is or was delivered to it. */
function triggerRows(triggers: readonly FunctionTrigger[], deliveries: readonly DeliveryCounts[]): readonly (readonly string[])[] {
	const countsOf = (name: string): readonly string[] => {
		const {accepted = 0, waiting = 0, delivered = 0, retried = 0, failed = 0} = deliveries.find(({trigger}) => trigger === name) ?? {};
		return [accepted, waiting, delivered, retried, failed].map(String);
	};
	const others = deliveries.filter(({trigger}) => !triggers.some(({name}) => name === trigger));
	return [
		...triggers.map(trigger => [trigger.name, triggerSource(trigger), ...countsOf(trigger.name)]),
		...others.map(({trigger}) => [trigger, otherSources.get(trigger) ?? '<gone>', ...countsOf(trigger)]),
	];
}

const otherSources: ReadonlyMap<string, string> = new Map([
	['(async)', 'calls with --async'],
	['(mqtt)', 'messages to its invoke topic'],
]);

/** `revision 3: weight 90`, `newest: weight 0, header x-canary = yes`. */
function shareLine(share: Share): string {
	const {name, exact, prefix} = share.match?.header ?? {};
	const wanted = exact === undefined ? (prefix === undefined ? '' : ` = ${prefix}...`) : ` = ${exact}`;
	const version = share.revision === undefined ? 'newest' : `revision ${share.revision}`;
	return `${version}: weight ${shareOf(share)}${name === undefined ? '' : `, header ${name}${wanted}`}`;
}

const instanceRow = ({metadata, spec, status}: Pod): readonly string[] => [
	metadata.name,
	isConditionTrue(status?.conditions, 'Ready') ? 'yes' : 'no',
	spec?.nodeName ?? '<none>',
];
