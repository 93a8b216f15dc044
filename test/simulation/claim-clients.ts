// People who delete claims, used ones too, and keep volumes; and what has to be left once all is quiet.

import {objectKey} from '../../api/keys.js';
import {nodeOfVolume, type PersistentVolume} from '../../api/kinds/persistentvolume.js';
import type {JsonObject} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';
import {claimNamesOf} from '../../actors/config-references.js';
import type {SimulatedCluster} from './cluster.js';

export class ClaimClients {
	readonly #cluster: SimulatedCluster;
	/** Names of volumes whose folders may outlive their records. */
	readonly #retained = new Set<string>();

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	delete(share: number): void {
		const name = this.#chosen('persistentvolumeclaims', share);
		if (name !== undefined)
			this.#cluster.askRecord(objectKey('persistentvolumeclaims', 'default', name), {type: 'delete'}, () => undefined);
	}

	/** What is in the volume stays when its claim is gone. */
	retain(share: number): void {
		const name = this.#chosen('persistentvolumes', share);
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {spec: {persistentVolumeReclaimPolicy: 'Retain'}}};
		if (name === undefined) return;
		this.#retained.add(name);
		this.#cluster.askRecord(objectKey('persistentvolumes', undefined, name), patch, () => undefined);
	}

	#chosen(plural: string, share: number): string | undefined {
		const all = this.#cluster.objects(plural);
		return all[Math.floor(share * all.length)]?.metadata.name;
	}

	/** What is not as it should be; `deletePod` takes away those whose claim is gone, or waits for them. */
	unsettled(deletePod: (name: string) => void): string[] {
		const claims = new Map(this.#cluster.objects('persistentvolumeclaims').map(claim => [claim.metadata.name, claim]));
		const volumes = this.#cluster.objects('persistentvolumes') as PersistentVolume[];
		const uids = new Set([...claims.values()].map(({metadata}) => metadata.uid));
		return [
			...this.#cluster.pods().flatMap(pod =>
				(pod.spec === undefined ? [] : claimNamesOf(pod.spec)).flatMap(name => {
					const claim = claims.get(name);
					if (claim !== undefined && claim.metadata.deletionTimestamp === undefined) return [];
					if (pod.metadata.deletionTimestamp === undefined) deletePod(pod.metadata.name);
					return [`I5: pod ${pod.metadata.name} has to go, and its claim`];
				}),
			),
			...[...claims.values()].flatMap(({metadata}) =>
				metadata.deletionTimestamp === undefined ? [] : [`I5: claim ${metadata.name} has to go`],
			),
			...volumes.flatMap(({metadata, spec}) => {
				const isKept = spec?.persistentVolumeReclaimPolicy === 'Retain' || uids.has(spec?.claimRef?.uid ?? '');
				return isKept ? [] : [`I5: volume ${metadata.name} has to go`];
			}),
			...this.#cluster.nodes.flatMap(({name: node, programs}) =>
				[...programs.localVolumes].flatMap(name =>
					this.#retained.has(name) || volumes.some(volume => volume.metadata.name === name && nodeOfVolume(volume) === node)
						? []
						: [`I16: ${name} is left on ${node}`],
				),
			),
		];
	}
}
