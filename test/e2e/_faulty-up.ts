// `node _faulty-up.js HOME`: troupe up, but with bugs in how ReplicaSets and Secrets reconcile.
//
// They are planted through code: the built command has no way to them. A set that wants the unlucky number makes its actor throw, and
// so does a Secret with the label `unlucky`, which tells all it knows on that occasion.

import {controlDesign} from '../../actors/control/design.js';
import {objectBehavior} from '../../actors/control/objects/object.js';
import {replicaSetController} from '../../actors/control/workloads/replicaset.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {processTitle} from '../../cli/files/process-title.js';
import {runUp} from '../../cli/serving/up.js';
import {upOptions} from './_up-options.js';

const unlucky = 13;

const buggy = objectBehavior({
	...replicaSetController,
	reconcile(object, context, failures) {
		if ((object as ReplicaSet).spec?.replicas === unlucky) throw new Error(`${unlucky} replicas bring bad luck`);
		return replicaSetController.reconcile(object, context, failures);
	},
});

const talkative = objectBehavior({
	plural: 'secrets',
	reconcile(object) {
		if (object.metadata.labels?.['unlucky'] !== undefined) throw new Error(`it cannot stand ${JSON.stringify(object)}`);
		return {effects: []};
	},
});

process.title = processTitle('up');
process.exitCode = await runUp(upOptions(process.argv[2] ?? '', undefined), {
	...controlDesign,
	behaviors: {...controlDesign.behaviors, [buggy.kind]: buggy, [talkative.kind]: talkative},
});
