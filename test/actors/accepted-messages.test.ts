// What systems take from each other are closed lists: what is not on them, or not well formed, is not taken.

import test from 'ava';
import {acceptsFromControl, acceptsFromNode, idempotentMessages} from '../../actors/protocol/accepted-messages.js';
import type {Message} from '../../system/kernel/behavior.js';
import {downsPath} from '../../system/kernel/watch-message.js';
import {aHello, aRuntimeInfo} from './_agent.js';

const sync = 'troupe://control/sync';
const ours = 'troupe://control/sync/node-a';
const hello = aHello();
const pod = {
	key: 'pods/default/web',
	uid: 'u',
	status: {phase: 'Running'},
	events: [{event: 'Normal', reason: 'Started', message: 'x', fieldPath: 'spec.containers{a}'}],
	cause: 'c',
};
const observed = {type: 'observed', session: 's', number: 1, pods: [pod]};
const deltaTaken = {type: 'deltaTaken', session: 's', number: 1};
const podGone = {type: 'podGone', key: 'pods/default/web', uid: 'u'};
const volumeUsage = {type: 'volumeUsage', key: 'persistentvolumes/_/a', usedBytes: 4_096};

const takes = (to: string, message: object): boolean => acceptsFromNode('node-a', to, message as Message);

test('control takes what node sync says of the node itself', t => {
	t.true(takes(sync, hello));
	for (const message of [observed, deltaTaken, podGone, volumeUsage]) t.true(takes(ours, message));
	t.true(takes(ours, {...observed, pods: []}));
});

test('control takes nothing that is said of another node, or elsewhere', t => {
	t.false(takes(sync, aHello({node: 'node-b'})));
	for (const message of [observed, deltaTaken, podGone, volumeUsage]) {
		for (const to of ['troupe://control/sync/node-b', sync, 'troupe://control/pods/default.web', 'troupe://control/scheduler', 'nowhere'])
			t.false(takes(to, message));
	}
	t.false(takes(ours, hello));
});

test('control takes from a node what that node itself uses, where it was asked for', t => {
	const told = {type: 'usageTold', id: '7/node-a', outcome: {ok: true, value: null}};
	t.true(takes('troupe://control/autoscalers', told));
	t.false(takes('troupe://control/autoscalers', {...told, id: '7/node-b'}));
	t.false(takes('troupe://control/autoscalers', {...told, type: 'outcome'}));
	t.false(takes('troupe://control/autoscalers/default.web', told));
	const used = {...told, type: 'used', id: 'node-a'};
	t.true(takes('troupe://control/scheduler', used));
	t.false(takes('troupe://control/scheduler', {...used, id: 'node-b'}));
	t.false(takes('troupe://control/scheduler', {...used, type: 'outcome'}));
});

test('control takes no writes, wakes or internal messages of a node', t => {
	for (const type of [
		'create',
		'delete',
		'patch',
		'bind',
		'observed',
		'gone',
		'heard',
		'dirty',
		'flush',
		'wake',
		'callHello',
		'delta',
		'constructor',
	]) {
		for (const to of [sync, ours, 'troupe://control/pods', 'troupe://control/pods/default.web', 'troupe://control/nodes/node-a'])
			t.false(takes(to, {type}));
	}
});

test('what measures a node is asked by control alone, and for nothing else', t => {
	const place = 'troupe://node-a/usage';
	t.true(acceptsFromControl('control', place, {type: 'readUsage'}));
	t.false(acceptsFromControl('node-b', place, {type: 'readUsage'}));
	for (const type of ['sample', 'sampled', 'readLog']) t.false(acceptsFromControl('control', place, {type}));
});

test('answers go to the edge only', t => {
	const answer = {type: 'edge', id: '1', outcome: {ok: true, value: null}};
	t.true(takes('troupe://control/edge', answer));
	t.false(takes(ours, {...answer, type: 'statusTaken'}));
	t.false(takes('troupe://control/scheduler', {...answer, type: 'outcome'}));
});

const without = (message: object, member: string): object => Object.fromEntries(Object.entries(message).filter(([key]) => key !== member));

test('a hello lacks nothing and has no member of another type', t => {
	for (const member of ['session', 'labels', 'epoch', 'lineage', 'have', 'info', 'protocol']) {
		t.false(takes(sync, without(hello, member)), member);
		t.false(takes(sync, {...hello, [member]: null}), member);
	}
	for (const wrong of [{have: {a: 1}}, {have: []}, {labels: {a: null}}, {epoch: '7'}]) t.false(takes(sync, {...hello, ...wrong}));
	for (const member of Object.keys(aRuntimeInfo())) t.false(takes(sync, {...hello, info: without(aRuntimeInfo(), member)}), member);
	t.false(takes(sync, {...hello, info: {...aRuntimeInfo(), conditions: [{type: 'X'}]}}));
	t.false(takes(sync, {...hello, info: {...aRuntimeInfo(), features: [1]}}));
	t.true(takes(sync, {...hello, info: aRuntimeInfo({classes: ['process', 'docker']})}));
	t.false(takes(sync, {...hello, info: {...aRuntimeInfo(), classes: ['wasm']}}));
});

test('a hello of another protocol is taken, to be answered', t => {
	t.true(takes(sync, {type: 'hello', node: 'node-a', protocol: 99}));
});

test('reports of any other shape are not taken', t => {
	const wrong = [
		{pods: null},
		{pods: 'all'},
		{pods: [null]},
		{pods: [without(pod, 'uid')]},
		{pods: [without(pod, 'cause')]},
		{pods: [without(pod, 'status')]},
		{pods: [{...pod, status: {phase: 'Dancing'}}]},
		{pods: [{...pod, status: {phase: 'Running', conditions: {}}}]},
		{pods: [{...pod, status: {phase: 'Running', secret: 'x'}}]},
		{pods: [{...pod, events: null}]},
		{pods: [{...pod, events: [{event: 'Loud', reason: 'x', message: 'x'}]}]},
		{pods: [{...pod, events: [{event: 'Normal', reason: 'x', message: 'x', fieldPath: 7}]}]},
		{pods: [{...pod, events: [{event: 'Normal', reason: 'x', message: 'x', aspect: null}]}]},
		{pods: [pod, {...pod, key: 7}]},
		{number: '1'},
		{session: undefined},
	];
	for (const members of wrong) t.false(takes(ours, {...observed, ...members}), JSON.stringify(members));
	t.false(takes(ours, {...deltaTaken, number: null}));
	t.false(takes(ours, {...podGone, uid: 7}));
	for (const usedBytes of [-1, '1', Number.NaN, undefined]) t.false(takes(ours, {...volumeUsage, usedBytes}));
});

test('a node takes its sync, and questions for its runtime and its inspector, from control alone', t => {
	const nodeSync = 'troupe://node-a/sync';
	for (const type of ['callHello', 'delta', 'observedTaken', 'podGoneTaken', 'refused', 'servers']) {
		t.true(acceptsFromControl('control', nodeSync, {type}));
		t.false(acceptsFromControl('node-b', nodeSync, {type}));
		t.false(acceptsFromControl('control', 'troupe://node-a/pods', {type}));
	}
	for (const type of ['readLog', 'execOpen', 'execWrite', 'execRead', 'execResize', 'execClose', 'stdinWrite', 'retryContainer']) {
		t.true(acceptsFromControl('control', 'troupe://node-a/runtime', {type}), type);
		t.false(acceptsFromControl('control', 'troupe://node-a/pods', {type}), type);
		t.false(acceptsFromControl('node-b', 'troupe://node-a/runtime', {type}), type);
	}
	t.false(acceptsFromControl('control', 'troupe://node-a/runtime', {type: 'synced'}));
	t.true(acceptsFromControl('control', 'troupe://node-a/inspector', {type: 'inspect'}));
	t.false(acceptsFromControl('node-b', 'troupe://node-a/inspector', {type: 'inspect'}));
	t.false(acceptsFromControl('control', 'troupe://node-a/inspector', {type: 'inspected'}));
	t.false(acceptsFromControl('control', 'troupe://node-a/pods', {type: 'inspect'}));
	t.false(takes('troupe://control/inspector', {type: 'inspect'}));
	for (const type of ['podReport', 'podGone', 'assigned', 'flush']) t.false(acceptsFromControl('control', nodeSync, {type}));
});

test('only messages that may be handled twice are sent again to a peer that restarted', t => {
	t.deepEqual([...idempotentMessages].sort(), ['callHello', 'hello']);
});

test('a node watches whom it may speak to; control watches every actor of a node; of ends both hear at the one place for that', t => {
	for (const type of ['watchActor', 'unwatchActor']) {
		for (const to of [sync, ours]) t.true(takes(to, {type, id: 1}), type);
		for (const to of [
			'troupe://control/sync/node-b',
			'troupe://control/pods/default.web',
			'troupe://control/scheduler',
			'troupe://control/',
			'nowhere',
		])
			t.false(takes(to, {type, id: 1}), type);
		for (const to of ['troupe://node-a/pods/default.web/nginx', 'troupe://node-a/sync', 'troupe://node-a/'])
			t.true(acceptsFromControl('control', to, {type}));
		t.false(acceptsFromControl('node-b', 'troupe://node-a/sync', {type}));
	}
	const down = {type: 'actorDown', id: 1, reason: {type: 'normal'}};
	t.true(takes(`troupe://control/${downsPath}`, down));
	t.false(takes(ours, down));
	t.true(acceptsFromControl('control', `troupe://node-a/${downsPath}`, down));
	t.false(acceptsFromControl('control', 'troupe://node-a/pods', down));
});
