// The code of a function for a node: only while a pod that is bound there is run from it.

import {failed, succeeded, type Outcome} from '../api/errors.js';
import {artifactOnNode} from '../actors/control/pods/pod-terms.js';
import type {Known} from '../system/index/object-index.js';
import type {ArtifactStore} from './artifact-store.js';

export type NodeArtifact = {readonly bytes: number; readonly pieces: AsyncIterable<Uint8Array>};

export function artifactForNode(
	known: Pick<Known, 'countByTerm'>,
	store: Pick<ArtifactStore, 'find' | 'read'>,
	node: string,
	digest: string,
): Outcome<NodeArtifact> {
	if (known.countByTerm('pods', artifactOnNode(node, digest)) === 0)
		return failed('ERR_FORBIDDEN', {
			message: `artifact "${digest}" is forbidden: no pod that is bound to node "${node}" is run from it`,
		});
	const found = store.find(digest);
	const pieces = store.read(digest);
	if (found === undefined || pieces === undefined) return failed('ERR_NOT_FOUND', {resource: 'artifacts', name: digest});
	return succeeded({bytes: found.bytes, pieces});
}
