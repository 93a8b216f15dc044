// What `describe node` shows of what its pods ask for.

import test from 'ava';
import {describeNode} from '../../cli/describe/node.js';
import {aContainer, aNode, aReadyPod, nowMs} from '../actors/_objects.js';

const asking = (name: string, cpu: string, memory: string, phase: 'Running' | 'Succeeded' = 'Running') =>
	aReadyPod({
		name,
		spec: {priority: 5, containers: [aContainer({resources: {requests: {cpu, memory}, limits: {memory: '2Gi'}}})]},
		status: {phase, podIP: '10.0.0.1'},
	});

test('requests and limits are summed up over the pods that are not over, and shown as a share of what is allocatable', t => {
	const node = aNode({
		spec: {taints: [{key: 'dedicated', value: 'db', effect: 'NoSchedule'}]},
		status: {allocatable: {cpu: '2', memory: '4194304Ki', pods: '110'}, runtimeFeatures: ['users'], runtimeClasses: ['process', 'docker']},
	});
	const pods = [asking('one', '500m', '1Gi'), asking('two', '1', '512Mi'), asking('done', '1', '1Gi', 'Succeeded')];
	const page = describeNode(node, pods, nowMs, text => text.length);
	t.regex(page, /Taints: +dedicated=db:NoSchedule/);
	t.regex(page, /Features: +users/);
	t.regex(page, /Runtime Classes: +process, docker\n/);
	t.regex(page, /cpu +1500m \(75%\) +0 \(0%\) +2\n/);
	t.regex(page, /memory +1536Mi \(38%\) +4Gi \(100%\) +4Gi\n/);
	t.regex(page, /pods +2 \(2%\) +110\n/);
	t.notRegex(page, /nvidia/);
	t.regex(page, /default +done +Succeeded +10\.0\.0\.1 +1 +1Gi +5\n/);
});

test('devices are among what is allocated of a node that has some, or whose pods ask for some', t => {
	const having = (count: string) => ({requests: {'nvidia.com/gpu': count}, limits: {'nvidia.com/gpu': count}});
	const pod = aReadyPod({name: 'job', spec: {containers: [aContainer({resources: having('1')})]}, status: {phase: 'Running'}});
	const pageOf = (allocatable: object): string => describeNode(aNode({status: {allocatable}} as never), [pod], nowMs, text => text.length);
	t.regex(pageOf({cpu: '2', 'nvidia.com/gpu': '4'}), /Allocatable: .*\n +nvidia\.com\/gpu: 4\n/);
	t.regex(pageOf({cpu: '2', 'nvidia.com/gpu': '4'}), /nvidia\.com\/gpu +1 \(25%\) +1 \(25%\) +4\n/);
	t.regex(pageOf({cpu: '2'}), /nvidia\.com\/gpu +1 +1 +0\n/);
});
