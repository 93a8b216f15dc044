// Settings that people change while the cluster runs: one object. The actors that go by them read it from the index; what nodes have to
// know of them is told by `troupe://control/sync`.

import {address, controlSystem} from '../../../api/keys.js';
import type {ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import {tell} from '../../../system/kernel/behavior.js';
import {syncPath} from '../../addresses.js';
import {controller} from '../objects/controller.js';

export const clusterConfigController = controller<ClusterConfig>({
	plural: 'clusterconfigs',
	reconcile({metadata: {generation}, status}) {
		const isChanged = status?.observedGeneration !== undefined && status.observedGeneration !== generation;
		const effects = isChanged ? [tell(address(controlSystem, syncPath), {type: 'settings'})] : [];
		return {status: {...status, observedGeneration: generation}, effects};
	},
});
