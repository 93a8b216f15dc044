// `troupe why` across hosts: a node that is killed, and the words of a container that its status does not keep.

import test from 'ava';
import {podOf, setOf} from '../../../bench/rigs/cluster/manifests.js';
import {isReady} from '../../../bench/rigs/cluster/pods.js';
import {eventually, until} from '../../../bench/rigs/cluster/waiting.js';
import {openAgent, openServer} from '../_hosts.js';

type Why = {readonly answer: string; readonly next: {readonly says: string} | null; readonly chain: readonly {readonly about: string}[]};

test('a node that is killed: of the node, of its pod, and of the set that has it', async t => {
	t.timeout(120_000);
	const server = await openServer(t);
	const token = await server.joinToken();
	const [far, near] = await Promise.all(['far', 'near'].map(node => openAgent(t, [server.api()], token, node)));
	if (far === undefined || near === undefined) throw new Error('there are two agents');
	const client = await server.client();
	const set = setOf('web', 1);
	const {template} = set.spec;
	const tolerations = [{key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3_600}];
	const onFar = {...template, spec: {...template.spec, nodeSelector: {host: 'far'}, tolerations}};
	await server.fine('label', 'node', 'far', 'host=far');
	const talks = podOf('talks', ['sh', '-c', 'echo waiting for the database; exec sleep 100000'], {nodeSelector: {host: 'far'}});
	const [main] = talks.spec.containers;
	const containers = [{...main, readinessProbe: {exec: {command: ['false']}, periodSeconds: 1}}];
	await server.apply({...set, spec: {...set.spec, template: onFar}}, {...talks, spec: {...talks.spec, containers}});
	const pod = await until(client, 'pods', 'the pod to run', pods =>
		[...pods.values()].find(each => each.metadata.name.startsWith('web-') && isReady(each)),
	);

	const answers = async (object: string, answer: RegExp, chain: readonly string[]): Promise<Why> => {
		let why: Why | undefined;
		await eventually(
			`why ${object} answers ${String(answer)}`,
			async () => answer.test((why = JSON.parse(await server.fine('why', object, '-o', 'json')) as Why).answer),
			() => why?.answer ?? '',
			40_000,
		);
		t.deepEqual(
			why?.chain.map(({about}) => about),
			[...chain],
		);
		return why ?? {answer: '', next: null, chain: []};
	};
	await answers('pod/talks', /^Pod talks is not ready: its container main runs, .*; its last words: `waiting for the database`\.$/, [
		'pod/talks',
		'container main',
	]);

	await far.killIt();
	await answers('node/far', /^Node far has been lost for \d+ m?s: nothing is heard of the node; its pods are replaced\.$/, ['node/far']);
	const name = pod.metadata.name;
	const ofPod = await answers(
		`pod/${name}`,
		/^Pod \S+ is on a node that is not heard: node "far" is lost; the pod tolerates that for 3600 s\.$/,
		[`pod/${name}`, 'node/far'],
	);
	t.is(ofPod.next?.says, 'it is replaced on another node');
	await answers('rs/web', /^ReplicaSet web has 0 of 1 pod ready: its pod is on a node that is not heard; pod web-\w+: node "far" is lost/, [
		'replicaset/web',
		`pod/${name}`,
		'node/far',
	]);

	await far.restart();
	await answers('node/far', /^Nothing is wrong with Node far: it is heard, and has 2 pods\.$/, ['node/far']);
	await answers('rs/web', /^Nothing is wrong with ReplicaSet web: its pod is ready\.$/, ['replicaset/web']);
});
