// `describe` of what a container takes its environment from, and of kinds that nothing acts on.

import test from 'ava';
import {describePlain} from '../../cli/describe/plain.js';
import {describePod} from '../../cli/describe/pod.js';
import {manifests} from '../api/_manifests.js';
import {aPodWith, committed} from '../api/_objects.js';
import type {Pod} from '../../api/kinds/pod.js';

const nowMs = Date.parse('2026-01-01T00:03:20Z');
const widthOf = (text: string): number => text.length;
const asYaml = (value: unknown): Promise<string> => Promise.resolve(`${JSON.stringify(value)}\n`);

test('a pod says from which ConfigMaps and Secrets all entries are taken', t => {
	const pod = aPodWith({envFrom: [{configMapRef: {name: 'settings', optional: true}, prefix: 'APP_'}, {secretRef: {name: 'login'}}]});
	const page = describePod(committed(pod) as Pod, nowMs, widthOf);
	t.regex(page, /Environment From: +ConfigMap settings \(optional\), each as APP_KEY\n +Secret login\n/);
});

test('a pod shows what its containers may take and what is put aside for them', t => {
	const page = describePod(
		committed(aPodWith({resources: {limits: {memory: '2Gi'}, requests: {cpu: '100m', memory: '64Mi'}}})) as Pod,
		nowMs,
		widthOf,
	);
	t.regex(page, /Limits: +memory: 2Gi\n +Requests: +cpu: 100m, memory: 64Mi\n/);
});

test('a container that runs shows as whom and where', t => {
	const user = {linux: {uid: 1_900_000_000, gid: 1_900_000_000, supplementalGroups: [2_000, 3_000]}};
	const process = {workingDir: '/srv', home: '/var/lib/troupe/x', path: '/usr/bin:/bin'};
	const pod = committed(aPodWith({})) as Pod;
	const name = pod.spec?.containers[0]?.name ?? '';
	const status = {name, ready: true, restartCount: 0, image: 'any', imageID: '', user, process};
	const page = describePod({...pod, status: {phase: 'Running', containerStatuses: [status]}}, nowMs, widthOf);
	t.regex(page, /User: +1900000000 \(group 1900000000, also 2000, 3000\)\n/);
	t.regex(page, /Working Dir: +\/srv\n +Home: +\/var\/lib\/troupe\/x\n +Path: +\/usr\/bin:\/bin\n/);
});

test('an object that nothing acts on says which controller is missing', async t => {
	t.regex(
		await describePlain(committed(manifests.HorizontalPodAutoscaler), nowMs, widthOf, asYaml),
		/Controller: +missing: this version has no HorizontalPodAutoscaler controller\n/,
	);
	const config = {apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}};
	t.notRegex(await describePlain(committed(config), nowMs, widthOf, asYaml), /Controller/);
});

test('members that stand beside the metadata are shown, too', async t => {
	const page = await describePlain(committed(manifests.EndpointSlice), nowMs, widthOf, asYaml);
	t.regex(page, /AddressType:\n {2}"IPv4"\nEndpoints:\n/);
});
