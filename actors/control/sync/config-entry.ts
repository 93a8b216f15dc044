// What of a ConfigMap, Secret, claim or volume goes to a node: a ConfigMap as it is, of a Secret only that it is there (the node's agent fetches
// its values by HTTPS), of a claim where its volume is, and of a volume that its folder is to go.

import type {ConfigMap} from '../../../api/kinds/configmap.js';
import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {isProvisioned, nodeOfVolume, type PersistentVolume} from '../../../api/kinds/persistentvolume.js';
import type {PersistentVolumeClaim} from '../../../api/kinds/persistentvolumeclaim.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {nodeKey} from '../../addresses.js';
import {claims, configMaps, configVersion, volumes} from '../../config-references.js';
import {nfsSource, type ClaimSource, type ConfigEntry, type ConfigData} from '../../protocol/sync-message.js';
import {namesOnNode} from '../pods/pod-terms.js';
import {boundVolume} from '../storage/binding.js';
import {isUsableOn} from '../storage/node-affinity.js';
import {isToRemove} from '../storage/volume.js';

/** The entry of a key for a node: nothing, where the object is not there or no pod of the node names it. */
export function configEntryOf(node: string, key: ObjectKey, known: Known): ConfigEntry {
	const object = known.get(key);
	const nothing: ConfigEntry = {key, version: '', named: null};
	if (object === undefined) return nothing;
	const {plural} = parseObjectKey(key);
	if (plural === volumes) return removalOf(node, key, object as PersistentVolume);
	if (known.countByTerm('pods', namesOnNode(node, key)) === 0) return nothing;
	if (plural === claims) return claimEntryOf(node, key, object as PersistentVolumeClaim, known);
	return {key, version: configVersion(object), named: plural === configMaps ? copyOf(object) : {type: 'secret'}};
}

function removalOf(node: string, key: ObjectKey, volume: PersistentVolume): ConfigEntry {
	const {uid} = volume.metadata;
	const isDue = nodeOfVolume(volume) === node && isToRemove(volume);
	return isDue ? {key, version: uid, named: {type: 'removal', uid}} : {key, version: '', named: null};
}

/** What a claim and its volume say never changes once they are bound. */
function claimEntryOf(node: string, key: ObjectKey, claim: PersistentVolumeClaim, known: Known): ConfigEntry {
	const volume = boundVolume(claim, known);
	if (volume === undefined) return {key, version: '', named: null};
	return {key, version: `${claim.metadata.uid}.${volume.metadata.uid}`, named: {type: 'claim', source: sourceOf(node, volume, known)}};
}

function sourceOf(node: string, volume: PersistentVolume, known: Known): ClaimSource {
	const {metadata, spec} = volume;
	const labels = (known.get(nodeKey(node)) as NodeObject | undefined)?.metadata.labels ?? {};
	// A manifest may have bound its pod anywhere.
	if (!isUsableOn(volume, node, labels))
		return {
			type: 'elsewhere',
			why: `MountVolume.NodeAffinity check failed for volume "${metadata.name}": no matching NodeSelectorTerms`,
		};
	if (spec?.local !== undefined && isProvisioned(volume)) return {type: 'local', volume: metadata.name, path: spec.local.path};
	if (spec?.nfs !== undefined) return nfsSource(spec.nfs);
	if (spec?.local !== undefined) return {type: 'hostPath', path: spec.local.path, check: 'Directory'};
	return {type: 'hostPath', path: spec?.hostPath?.path ?? '', check: spec?.hostPath?.type ?? ''};
}

const copyOf = ({data = {}, binaryData}: ApiObject & Pick<ConfigMap, 'data' | 'binaryData'>): ConfigData => ({
	type: 'configMap',
	data,
	...(binaryData === undefined ? {} : {binaryData}),
});
