// The class of a new pod that names none: what the cluster's configuration says. What it says later changes nothing of pods that are there.

import {defaultClassOf, type ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import {isObject, type Draft} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {clusterConfigKey} from '../../addresses.js';

/** The draft with its class; what its class cannot do is left to admission, which goes by it. */
export function withRuntimeClass(draft: Draft, known: Known): Draft {
	const {spec} = draft;
	if (!isObject(spec) || spec['runtimeClassName'] !== undefined) return draft;
	return {...draft, spec: {...spec, runtimeClassName: defaultClassOf(known.get(clusterConfigKey) as ClusterConfig | undefined)}};
}
