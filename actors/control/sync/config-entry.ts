// What of a ConfigMap or Secret goes to a node: a ConfigMap as it is, of a Secret only that it is there. The node's agent fetches its
// values by HTTPS.

import type {ConfigMap} from '../../../api/kinds/configmap.js';
import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {configMaps, configVersion} from '../../config-references.js';
import type {ConfigEntry, ConfigData} from '../../protocol/sync-message.js';
import {namesOnNode} from '../pods/pod-terms.js';

/** The entry of a key for a node: nothing, where the object is not there or no pod of the node names it. */
export function configEntryOf(node: string, key: ObjectKey, known: Known): ConfigEntry {
	const object = known.get(key);
	if (object === undefined || known.countByTerm('pods', namesOnNode(node, key)) === 0) return {key, version: '', named: null};
	return {key, version: configVersion(object), named: parseObjectKey(key).plural === configMaps ? copyOf(object) : {type: 'secret'}};
}

const copyOf = ({data = {}, binaryData}: ApiObject & Pick<ConfigMap, 'data' | 'binaryData'>): ConfigData => ({
	type: 'configMap',
	data,
	...(binaryData === undefined ? {} : {binaryData}),
});
