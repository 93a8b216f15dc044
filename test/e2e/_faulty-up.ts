// `node _faulty-up.js HOME`: troupe up, but with a bug in how ReplicaSets reconcile.
//
// The bug is planted through code: the built command has no way to it. A set that wants the unlucky number makes its actor throw.

import {controlDesign} from '../../actors/control/design.js';
import {objectBehavior} from '../../actors/control/object.js';
import {replicaSetController} from '../../actors/control/replicaset.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {processTitle} from '../../cli/process-title.js';
import {runUp} from '../../cli/up.js';
import type {UpOptions} from '../../cli/up-options.js';

const unlucky = 13;
const anyPort = {host: '127.0.0.1', port: 0};

const buggy = objectBehavior({
	...replicaSetController,
	reconcile(object, context) {
		if ((object as ReplicaSet).spec?.replicas === unlucky) throw new Error(`${unlucky} replicas bring bad luck`);
		return replicaSetController.reconcile(object, context);
	},
});

const options: UpOptions = {
	home: process.argv[2] ?? '',
	api: anyPort,
	web: anyPort,
	mqtt: anyPort,
	runtime: 'process',
	store: 'level',
	node: 'vm',
	simulatedNodes: 0,
	detach: false,
};

process.title = processTitle('up');
process.exitCode = await runUp(options, {...controlDesign, behaviors: {...controlDesign.behaviors, [buggy.kind]: buggy}});
