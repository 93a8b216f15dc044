// Settings that people change while the cluster runs: one object. The actors that go by them read it from the index.

import type {ClusterConfig} from '../../../api/kinds/clusterconfig.js';
import {controller} from '../objects/controller.js';

export const clusterConfigController = controller<ClusterConfig>({
	plural: 'clusterconfigs',
	reconcile: ({metadata, status}) => ({status: {...status, observedGeneration: metadata.generation}, effects: []}),
});
