// `describe persistentvolumeclaim` and `describe persistentvolume`: what storage is, who has it and where. In kubectl's words. Pure.

import {modesText, storageText} from '../../api/columns/storage.js';
import type {PersistentVolume, PersistentVolumeStatus} from '../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../api/kinds/persistentvolumeclaim.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import type {WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, labelLines, metadataFields, type Field} from './lines.js';

const phaseOf = ({metadata}: ApiObject, phase: string | undefined): string =>
	metadata.deletionTimestamp === undefined ? (phase ?? 'Pending') : 'Terminating';

const finalizersOf = ({metadata: {finalizers = []}}: ApiObject): string => (finalizers.length === 0 ? '<none>' : finalizers.join(', '));

const usedText = (used: PersistentVolumeStatus['used']): string | undefined => (used === undefined ? undefined : storageText(used));

/** Everything but the events. `pods` are those of its namespace. */
export function describeClaim(object: PersistentVolumeClaim, pods: readonly Pod[], nowMs: number, widthOf: WidthOf): string {
	const {metadata, spec, status} = object;
	const users = pods
		.filter(pod => pod.spec?.volumes?.some(({persistentVolumeClaim}) => persistentVolumeClaim?.claimName === metadata.name))
		.map(pod => pod.metadata.name);
	const fields = drawFields([
		...metadataFields(object, nowMs),
		['StorageClass', spec?.storageClassName ?? ''],
		['Status', phaseOf(object, status?.phase)],
		['Volume', spec?.volumeName ?? ''],
		['Finalizers', finalizersOf(object)],
		['Requested', storageText(spec?.resources.requests)],
		['Capacity', storageText(status?.capacity)],
		['Used', usedText(status?.used)],
		['Access Modes', modesText(status?.accessModes)],
		['VolumeMode', spec?.volumeMode],
		['Selector', spec?.selector === undefined ? undefined : labelLines(spec.selector.matchLabels)],
		['Used By', users.length === 0 ? '<none>' : users],
	]);
	return fields + drawConditions(status?.conditions, widthOf);
}

/** Everything but the events. */
export function describeVolume(object: PersistentVolume, nowMs: number): string {
	const {spec, status} = object;
	const {claimRef} = spec ?? {};
	return (
		drawFields([
			...metadataFields(object, nowMs),
			['Finalizers', finalizersOf(object)],
			['StorageClass', spec?.storageClassName ?? ''],
			['Status', phaseOf(object, status?.phase)],
			['Claim', claimRef === undefined ? '' : `${claimRef.namespace}/${claimRef.name}`],
			['Reclaim Policy', spec?.persistentVolumeReclaimPolicy],
			['Access Modes', modesText(spec?.accessModes)],
			['VolumeMode', spec?.volumeMode],
			['Capacity', storageText(spec?.capacity)],
			['Used', usedText(status?.used)],
			['Node Affinity', affinityLines(object)],
			['Message', status?.message],
		]) +
		'Source:\n' +
		drawFields(sourceFields(object), '  ')
	);
}

function sourceFields({spec}: PersistentVolume): readonly Field[] {
	const {hostPath, local, nfs} = spec ?? {};
	if (local !== undefined)
		return [
			['Type', 'LocalVolume (a folder of one node)'],
			['Path', local.path],
		];
	if (nfs !== undefined)
		return [
			['Type', 'NFS (a folder that another host exports)'],
			['Server', nfs.server],
			['Path', nfs.path],
			['ReadOnly', String(nfs.readOnly ?? false)],
		];
	return [
		['Type', 'HostPath (a folder or file of the node)'],
		['Path', hostPath?.path],
		['HostPathType', hostPath?.type],
	];
}

function affinityLines({spec}: PersistentVolume): string | readonly string[] {
	const terms = spec?.nodeAffinity?.required.nodeSelectorTerms ?? [];
	if (terms.length === 0) return '<none>';
	return terms.map(({matchExpressions = [], matchFields = []}, index) => {
		const requirements = [...matchExpressions, ...matchFields].map(({key, operator, values = []}) =>
			values.length === 0 ? `${key} ${operator.toLowerCase()}` : `${key} ${operator.toLowerCase()} [${values.join(', ')}]`,
		);
		return `Term ${index}: ${requirements.join(', ')}`;
	});
}
