// From a manifest's container to what is started: command line, user, limits.

import test from 'ava';
import {functionAnnotation, functionContainer} from '../../api/function-instance.js';
import type {Container, PodSpec} from '../../api/kinds/pod.js';
import {containerSpecOf} from '../../actors/node/containers/container-spec.js';
import type {EnvironmentInput} from '../../actors/node/containers/environment.js';
import type {ContainerSpec} from '../../actors/node/runtime/runtime-port.js';
import {emptyIndex} from '../../system/index/object-index.js';
import {aContainer} from './_objects.js';
import {anAssignment, sandbox} from './_agent.js';

const around = (assignment = anAssignment()): EnvironmentInput => ({assignment, sandbox, known: emptyIndex});

function specOf(wanted: Container, attempt = 0, assignment = anAssignment()): ContainerSpec | undefined {
	const outcome = containerSpecOf(wanted, around(assignment), attempt);
	return outcome.ok ? outcome.value : undefined;
}

test('the command line is command and args, expanded word by word', t => {
	const wanted = aContainer({
		command: ['serve', '--host=$(POD_IP)'],
		args: ['$(NAME) $(NAME)', '$$(NAME)'],
		env: [{name: 'NAME', value: 'a b'}],
	});
	t.deepEqual(specOf(wanted)?.argv, ['serve', '--host=127.1.0.5', 'a b a b', '$(NAME)']);
});

test('args alone are a command line; none is left to the runtime', t => {
	const {command: _command, ...bare} = aContainer();
	t.like(specOf({...bare, args: ['true']}), {argv: ['true'], argsOnly: true});
	t.deepEqual(specOf(bare)?.argv, []);
	for (const named of [bare, aContainer({args: ['more']})]) t.is(specOf(named)?.argsOnly, undefined);
});

test('a container that says nothing has no rights of its own, and what its pod or it says is handed on', t => {
	const rights = (wanted: Container, spec: Partial<PodSpec> = {}): unknown => {
		const made = specOf(wanted, 0, anAssignment({spec: {runtimeClassName: 'docker', ...spec}}));
		return [made?.privileged, made?.allowPrivilegeEscalation, made?.capabilities, made?.seccomp, made?.groupsPolicy];
	};
	const none = {add: [], drop: []};
	t.deepEqual(rights(aContainer()), [false, false, none, 'default', 'Merge']);
	t.deepEqual(rights(aContainer({securityContext: {privileged: true}})), [true, true, none, 'default', 'Merge']);
	t.deepEqual(rights(aContainer({securityContext: {capabilities: {add: ['cap_net_admin'], drop: ['all']}}})), [
		false,
		false,
		{add: ['NET_ADMIN'], drop: ['ALL']},
		'default',
		'Merge',
	]);
	const ofPod = {securityContext: {seccompProfile: {type: 'Unconfined'}, supplementalGroupsPolicy: 'Strict'}} as const;
	t.deepEqual(rights(aContainer(), ofPod), [false, false, none, 'unconfined', 'Strict']);
	t.deepEqual(rights(aContainer({securityContext: {seccompProfile: {type: 'RuntimeDefault'}}}), ofPod), [
		false,
		false,
		none,
		'default',
		'Strict',
	]);
});

test('users, limits and streams are handed on; a container’s user counts more than the pod’s', t => {
	const wanted = aContainer({
		tty: true,
		stdin: true,
		workingDir: '/srv',
		resources: {limits: {memory: '64Mi', cpu: '250m'}},
		securityContext: {runAsUser: 7},
	});
	const assignment = anAssignment({spec: {securityContext: {runAsUser: 1, runAsGroup: 2}}});
	t.like(specOf(wanted, 3, assignment), {
		id: {uid: 'uid-of-web', container: 'main'},
		attempt: 3,
		tty: true,
		stdin: true,
		workingDir: '/srv',
		runAsNonRoot: false,
		groups: [],
		mounts: [],
		readOnlyRoot: false,
		cpuRequestMillis: undefined,
		memoryLimitBytes: 67_108_864,
		cpuLimitMillis: 250,
		runAsUser: 7,
		runAsGroup: 2,
	});
	t.like(specOf(aContainer()), {
		tty: false,
		stdin: false,
		runAsNonRoot: false,
		groups: [],
		mounts: [],
		readOnlyRoot: false,
		cpuRequestMillis: undefined,
		memoryLimitBytes: undefined,
		runAsUser: undefined,
	});
});

test('the container of an instance has its function, and no other container of the pod does', t => {
	const instance = {artifact: `sha256:${'0'.repeat(64)}`, runtime: 'nodejs', concurrency: 3, timeoutMs: 1_000};
	const assignment = anAssignment({annotations: {[functionAnnotation]: JSON.stringify(instance)}});
	const {command: _command, ...bare} = aContainer({name: functionContainer});
	t.like(specOf(bare, 0, assignment), {argv: [], function: instance});
	t.is(specOf(aContainer({name: 'before'}), 0, assignment)?.function, undefined);
	t.is(specOf(bare)?.function, undefined);
});
