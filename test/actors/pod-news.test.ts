// What is told of pods that were made and deleted: in the words of Kubernetes.

import test from 'ava';
import {daemonSetController} from '../../actors/control/workloads/daemonset.js';
import {jobController} from '../../actors/control/workloads/job.js';
import {replicaSetController} from '../../actors/control/workloads/replicaset.js';
import {statefulSetController} from '../../actors/control/workloads/statefulset.js';
import {aPod, aReplicaSet} from './_objects.js';

const pod = aPod({name: 'web-0'});
const owner = aReplicaSet();

const plain = ['SuccessfulCreate: Created pod: web-0', 'SuccessfulDelete: Deleted pod: web-0'];

for (const [controller, said] of [
	[replicaSetController, plain],
	[daemonSetController, plain],
	[jobController, plain],
	[
		statefulSetController,
		[
			'SuccessfulCreate: create Pod web-0 in StatefulSet web successful',
			'SuccessfulDelete: delete Pod web-0 in StatefulSet web successful',
		],
	],
] as const)
	test(`${controller.plural} tell of their pods`, t => {
		const told = ['create/web-0', `delete/${pod.metadata.uid}`].flatMap(id => controller.written?.(owner, id, pod) ?? []);
		t.deepEqual(
			told.map(effect => (effect.type === 'event' ? `${effect.reason}: ${effect.message}` : '')),
			said as unknown,
		);
	});
